"""Makes the generated stubs importable; import it before them.

Two of their packages have names that are taken in Python: `platform` is a module
of the standard library, and `grpc` is the library itself. Their modules are looked
for among the stubs, too.
"""

import os
import platform
import sys

import grpc

folder = os.environ["STUBS"]

sys.path.insert(0, folder)
platform.__path__ = [os.path.join(folder, "platform")]
grpc.__path__.append(os.path.join(folder, "grpc"))
