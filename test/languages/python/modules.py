"""Imports every generated module; prints JSON with the modules, their methods, and packages that a Python module hides."""

import importlib
import json
import pathlib
import sys

import stubs


def module_names():
    folder = pathlib.Path(stubs.folder)
    return sorted(".".join(file.relative_to(folder).with_suffix("").parts) for file in folder.rglob("*.py"))


def methods(module):
    descriptor = getattr(module, "DESCRIPTOR", None)
    services = descriptor.services_by_name.values() if descriptor else []
    return [f"{service.full_name}/{method.name}" for service in services for method in service.methods]


names = module_names()
modules = [importlib.import_module(name) for name in names]
print(
    json.dumps(
        {
            "modules": names,
            "methods": sorted(method for module in modules for method in methods(module)),
            "hidden": sorted({name.split(".")[0] for name in names} & {"grpc", *sys.stdlib_module_names}),
        }
    )
)
