"""``dpcore-verify FILE...``: exit code 0 and the claim if every certificate is proved, 1 and the reason if not."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from dpcore_verify.claims import LARGEST, verify
from dpcore_verify.expression import Unproved, read


def main(words: list[str] | None = None) -> int:
    """Check the files that are named.

    Parameters
    ----------
    words : list of str, optional
        The command line; that of the program by default.

    Returns
    -------
    int
        0 if every claim is proved, 1 if one is not.
    """
    parser = argparse.ArgumentParser(
        prog="dpcore-verify", description="Prove the claims of certificates again, or reject them."
    )
    parser.add_argument(
        "files", metavar="FILE", nargs="+", type=Path, help="a certificate, as dpcore certify writes it"
    )
    parser.add_argument("--expression", help="what the certificate must be about")
    arguments = parser.parse_args(words)
    failed = False
    for path in arguments.files:
        try:
            sys.stdout.write(f"proved: {_checked(path, arguments.expression)}\n")
        except Unproved as reason:
            failed = True
            sys.stderr.write(f"{path}: {reason}\n")
    return int(failed)


def _checked(path: Path, expression: str | None) -> str:
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST + 1)
        if len(text) > LARGEST:
            msg = f"A certificate has at most {LARGEST} bytes."
            raise Unproved(msg)
        certificate = json.loads(text.decode(), object_pairs_hook=_once)
    except (OSError, RecursionError, ValueError) as error:
        msg = f"The file cannot be read ({error})."
        raise Unproved(msg) from error
    if (
        expression is not None
        and isinstance(certificate, dict)
        and read(expression) != read(certificate.get("expression"))
    ):
        msg = f"The certificate is about {certificate.get('expression')}."
        raise Unproved(msg)
    return verify(certificate)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object whose keys differ: of two equal ones a reader may see the other."""
    found = dict(pairs)
    if len(found) < len(pairs):
        msg = "a key stands twice"
        raise ValueError(msg)
    return found


if __name__ == "__main__":
    raise SystemExit(main())
