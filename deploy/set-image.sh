#!/bin/sh
# Writes the image of a release, by its digest, into the files next to this one (docs/operate/install.md):
#
#   sh set-image.sh registry.example.com/agent-task-platform@sha256:DIGEST
set -eu
case ${1-} in
  *?@sha256:*) digest=${1##*@} ;;
  *) echo "give the image with its digest: NAME@sha256:DIGEST" >&2 && exit 2 ;;
esac
case ${digest#sha256:} in
  *[!0-9a-f]*) digest= ;;
esac
[ ${#digest} = 71 ] || { echo "the digest must be sha256: and 64 hexadecimal digits" >&2 && exit 2; }
cd "$(dirname "$0")"

replace() {
  file=$1
  shift
  sed "$@" "$file" >"$file.new"
  mv "$file.new" "$file"
}
replace compose/compose.yaml -e "s|\(image: \${ATP_IMAGE:-\)[^}]*}|\1$1}|"
replace kubernetes/kustomization.yaml -e '/^    new\(Tag\|Name\): /d' -e '/^    digest: /d' \
  -e "s|^  - name: agent-task-platform\$|&\\
    newName: ${1%@*}\\
    digest: $digest|"
