#!/bin/sh
# Installs the workbench of VS Code that tests/workbench drives into the folder given as argument: code-server and the
# Node it needs, from the npm registry. Silent when it is there already, or when no Chromium could show it.
set -eu

CODE_SERVER=4.139.1
NODE=24.21.0
wanted="code-server $CODE_SERVER, node $NODE"

if ! command -v chromium >/dev/null || [ "$(cat "$1/installed" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi
echo "Installing $wanted into $1 ..." >&2

install() {
    npm install --ignore-scripts --omit=dev --save-exact --no-audit --no-fund --loglevel=error "$@" >/dev/null
}

rm -rf "$1"
mkdir -p "$1"
cd "$1"
echo '{ "private": true }' >package.json
install "code-server@$CODE_SERVER" "$(node -p '`node-${process.platform}-${process.arch}`')@$NODE"

# What its own script does after that, except for compiling native modules: they are for logs, terminals and passwords.
(
    cd node_modules/code-server/lib/vscode
    install
    ln -sf code-linux.sh bin/remote-cli/code-server
    ln -sf browser-linux.sh bin/helpers/browser.sh
    cd extensions
    install
)
echo "$wanted" >installed
