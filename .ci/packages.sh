# Sourced: `install_packages NAME …` installs Debian packages that the machine lacks. Only this needs root.

as_root() { if [ "$(id -u)" = 0 ]; then env DEBIAN_FRONTEND=noninteractive "$@"; else sudo DEBIAN_FRONTEND=noninteractive "$@"; fi; }

install_packages() {
  local missing=() package policy forbids
  for package in "$@"; do
    # Another package may have installed kubectl; Debian's conflicts with it, and apt would configure none.
    [ "$package" = kubernetes-client ] && command -v kubectl >/dev/null && continue
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  [ "${#missing[@]}" -gt 0 ] || return 0
  # Debian starts services of installed packages, such as Prometheus, unless this program forbids it.
  policy=/usr/sbin/policy-rc.d forbids=
  [ -e "$policy" ] || { forbids=1 && printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null && as_root chmod +x "$policy"; }
  as_root apt-get update -q && as_root apt-get install -q -y --no-install-recommends "${missing[@]}" ||
    echo "could not install ${missing[*]}: the tests that need it will say so" >&2
  [ -z "$forbids" ] || as_root rm "$policy"
}
