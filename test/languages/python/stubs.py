"""Makes the generated stubs importable; import it before them.

One of their packages has a name that is taken in Python: `grpc` is the library
itself. Its modules are looked for among the stubs, too.
"""

import os
import sys

import grpc

folder = os.environ["STUBS"]

sys.path.insert(0, folder)
grpc.__path__.append(os.path.join(folder, "grpc"))
