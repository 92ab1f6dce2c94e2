#!/bin/sh
# Stands in for a sandbox: it notes that it was used, and keeps nothing away. $1 the note, $2 the folder, $3 the command.
echo "$3" >>"$1"
cd "$2" && exec /bin/sh -c "$3"
