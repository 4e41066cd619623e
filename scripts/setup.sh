#!/bin/sh
# Find a Python that can run setup.py (which finds the right one for the virtual environment).
# -I -S: no user site-packages and no environment variables that could break it; and it starts faster.
for python in .venv/bin/python "${PYTHON:-}" python3.11 python3.12 python3.13 python3.14 python3 python; do
    if [ -n "$python" ] && "$python" -I -S -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null; then
        exec "$python" -I -S scripts/setup.py "$@"
    fi
done
echo "Python 3.11 or newer is needed and no Python 3 was found on the PATH." >&2
case $(uname -s) in
Darwin) echo "Install it with:  brew install python@3.12" >&2 ;;
Linux) echo "Install it, on Debian and Ubuntu with:  sudo apt-get install -y python3 python3-venv" >&2 ;;
*) echo "Install it from the Python web site." >&2 ;;
esac
exit 3
