"""Mechanisms, one small file each; importing this package registers them all."""

import pkgutil
from importlib import import_module

_FILES = sorted(module.name for module in pkgutil.iter_modules(__path__))

for _name in _FILES:
    import_module(f"{__name__}.{_name}")
