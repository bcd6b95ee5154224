"""One file per subcommand.

A file ``name.py`` here is the command ``dpcore name``. It holds

- ``HELP``: one sentence for ``dpcore --help``;
- ``configure(parser)``: adds the command's arguments;
- ``run(arguments)``: returns the table to print, None if there is none, or an exit code;
- ``TABLE = False`` (optional): the command has no table, hence no ``--format``;
- ``PASSES_ON = True`` (optional): words that the command does not know are kept in ``arguments.rest``.

Imports that cost time stand inside ``run``: the file is also read for ``dpcore --help``.
"""
