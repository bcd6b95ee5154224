"""One small file per mechanism; importing this package finds them all and makes them known to the registry."""

import pkgutil
from importlib import import_module

_FILES = sorted(module.name for module in pkgutil.iter_modules(__path__))

for _name in _FILES:
    import_module(f"{__name__}.{_name}")
