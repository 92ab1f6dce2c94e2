"""Makes the generated stubs importable; import it before them.

One of their packages has the name of a Python library, `grpc`. The path of the
library is extended, so that its modules are found among the stubs too.
"""

import os
import sys

import grpc

folder = os.environ["STUBS"]

sys.path.insert(0, folder)
grpc.__path__.append(os.path.join(folder, "grpc"))
