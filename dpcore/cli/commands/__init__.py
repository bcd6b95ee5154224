"""One file per subcommand.

A file ``name.py`` here is the command ``dpcore name``. It holds

- ``HELP``: one sentence for ``dpcore --help``;
- ``configure(parser)``: adds the arguments of the command;
- ``run(arguments)``: returns the table to print, None if there is none, or an exit code;
- ``TABLE = False`` (optional): the command has no table and therefore no ``--format``;
- ``PASSES_ON = True`` (optional): unknown words are kept in ``arguments.rest``.

Slow imports go inside ``run``: the file is also read for ``dpcore --help``.
"""
