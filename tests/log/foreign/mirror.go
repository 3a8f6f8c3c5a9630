// A client of a published log that shares no code with the server. Notes, trees and proofs are those of
// golang.org/x/mod, the reference implementation; here are only the paths of C2SP tlog-tiles, and bundles.
//
//	mirror URL VKEY FOLDER
//
// URL is that of one shard's log, which ends with a slash. Copies it into FOLDER: `checkpoint`, and
// `leaves` with a leaf in hex a line. Verifies the signature, all leaves by the root, an inclusion proof
// of one in each bundle, and that the log continues the checkpoint that FOLDER has from an earlier run.
package main

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const height = 8
const width = 1 << height

var errMissing = errors.New("not found")

// get returns an object of the log.
func get(url, path string) ([]byte, error) {
	answer, err := http.Get(url + path)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusNotFound {
		return nil, fmt.Errorf("%s: %w", path, errMissing)
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", path, answer.Status)
	}
	return io.ReadAll(answer.Body)
}

// path returns the path of a tile: x/mod writes the height into it, and names entries otherwise.
func path(tile tlog.Tile) string {
	name := strings.TrimPrefix(tile.Path(), fmt.Sprintf("tile/%d/", height))
	return "tile/" + strings.Replace(name, "data/", "entries/", 1)
}

// tiles reads tiles for x/mod, which verifies them by the root.
type tiles struct{ url string }

func (tiles) Height() int                         { return height }
func (tiles) SaveTiles(_ []tlog.Tile, _ [][]byte) {}

func (t tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	var found [][]byte
	for _, tile := range wanted {
		data, err := get(t.url, path(tile))
		if errors.Is(err, errMissing) && tile.W < width {
			// the tile has become full since the checkpoint
			full := tile
			full.W = width
			data, err = get(t.url, path(full))
		}
		if err != nil {
			return nil, err
		}
		if len(data) < tile.W*tlog.HashSize {
			return nil, fmt.Errorf("%s is too short", path(tile))
		}
		found = append(found, data[:tile.W*tlog.HashSize])
	}
	return found, nil
}

// open verifies a checkpoint and returns its tree.
func open(data []byte, key string) (tlog.Tree, error) {
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return tlog.Tree{}, err
	}
	opened, err := note.Open(data, note.VerifierList(verifier))
	if err != nil {
		return tlog.Tree{}, err
	}
	lines := strings.SplitN(opened.Text, "\n", 4)
	if len(lines) < 4 || lines[0] != verifier.Name() {
		return tlog.Tree{}, fmt.Errorf("a checkpoint of %q", lines[0])
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return tlog.Tree{}, err
	}
	root, err := tlog.ParseHash(lines[2])
	return tlog.Tree{N: size, Hash: root}, err
}

// bundle returns the leaves of a bundle, each after its length in two bytes.
func bundle(url string, number, size int64) ([][]byte, error) {
	tile := tlog.Tile{H: height, L: -1, N: number, W: width}
	if left := size - number*width; left < width {
		tile.W = int(left)
	}
	data, err := get(url, path(tile))
	if err != nil {
		return nil, err
	}
	var leaves [][]byte
	for len(data) > 0 {
		if len(data) < 2 || len(data) < 2+(int(data[0])<<8|int(data[1])) {
			return nil, fmt.Errorf("%s is cut off", path(tile))
		}
		end := 2 + (int(data[0])<<8 | int(data[1]))
		leaves, data = append(leaves, data[2:end]), data[end:]
	}
	if len(leaves) != tile.W {
		return nil, fmt.Errorf("%s has %d leaves", path(tile), len(leaves))
	}
	return leaves, nil
}

// copyLeaves reads all leaves, and verifies them by the root, and by a proof of the last in each bundle.
func copyLeaves(url string, tree tlog.Tree) ([][]byte, error) {
	var hashes []tlog.Hash
	own := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		var found []tlog.Hash
		for _, index := range indexes {
			found = append(found, hashes[index])
		}
		return found, nil
	})
	served := tlog.TileHashReader(tree, tiles{url})
	var leaves [][]byte
	for number := int64(0); number*width < tree.N; number++ {
		rows, err := bundle(url, number, tree.N)
		if err != nil {
			return nil, err
		}
		for _, leaf := range rows {
			index := int64(len(leaves))
			more, err := tlog.StoredHashes(index, leaf, own)
			if err != nil {
				return nil, err
			}
			hashes, leaves = append(hashes, more...), append(leaves, leaf)
		}
		// one leaf of each bundle; more would only read the same tiles
		index := int64(len(leaves)) - 1
		proof, err := tlog.ProveRecord(tree.N, index, served)
		if err != nil {
			return nil, err
		}
		if err := tlog.CheckRecord(proof, tree.N, tree.Hash, index, tlog.RecordHash(leaves[index])); err != nil {
			return nil, fmt.Errorf("leaf %d: %w", index, err)
		}
	}
	root, err := tlog.TreeHash(tree.N, own)
	if err == nil && root != tree.Hash {
		err = errors.New("the leaves do not have the root that was signed")
	}
	return leaves, err
}

// continues verifies that the log begins as it was at an earlier checkpoint.
func continues(url string, tree, before tlog.Tree) error {
	if before.N > tree.N {
		return fmt.Errorf("the log has become shorter than %d leaves", before.N)
	}
	if before.N == tree.N {
		if before.Hash != tree.Hash {
			return errors.New("two roots were signed for the same size")
		}
		return nil
	}
	proof, err := tlog.ProveTree(tree.N, before.N, tlog.TileHashReader(tree, tiles{url}))
	if err != nil {
		return err
	}
	return tlog.CheckTree(proof, tree.N, tree.Hash, before.N, before.Hash)
}

func mirror(url, key, folder string) error {
	data, err := get(url, "checkpoint")
	if err != nil {
		return err
	}
	tree, err := open(data, key)
	if err != nil {
		return err
	}
	name := filepath.Join(folder, "checkpoint")
	from := "nothing"
	if known, err := os.ReadFile(name); err == nil {
		before, err := open(known, key)
		if err != nil {
			return err
		}
		if err := continues(url, tree, before); err != nil {
			return fmt.Errorf("the log contradicts its earlier checkpoint: %w", err)
		}
		from = fmt.Sprintf("%d leaves", before.N)
	}
	leaves, err := copyLeaves(url, tree)
	if err != nil {
		return err
	}
	var lines bytes.Buffer
	for _, leaf := range leaves {
		fmt.Fprintln(&lines, hex.EncodeToString(leaf))
	}
	if err := os.WriteFile(filepath.Join(folder, "leaves"), lines.Bytes(), 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		return err
	}
	fmt.Printf("%d leaves verified, and consistent with %s\n", tree.N, from)
	return nil
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: mirror URL VKEY FOLDER")
		os.Exit(2)
	}
	if err := mirror(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
