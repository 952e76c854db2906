// @ts-check
// What was dropped or chosen, as files with names: folders are opened, and hidden files left out.

/** A file, and its name in the corpus. Files of a folder are named with their path, so that no two share a name. */
/** @typedef {{ name: string, file: File }} Named */

/** Most files that one drop imports. */
const MOST = 5000;
/** Longest name that the server takes, in bytes of UTF-8. */
const LONGEST = 200;

/**
 * The files of a drop, those in dropped folders included.
 * @param {DataTransfer} transfer
 * @returns {Promise<Named[]>}
 */
export async function dropped(transfer) {
  // The list of items is gone after the first pause.
  const entries = Array.from(transfer.items, (item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  if (entries.length === 0) return chosen(transfer.files);
  /** @type {Named[]} */
  const found = [];
  for (const entry of entries) await open(entry, found);
  return found;
}

/**
 * The files of an input, of which one may be for a folder.
 * @param {FileList | null} files
 * @returns {Named[]}
 */
export function chosen(files) {
  const all = Array.from(files ?? [], (file) => ({ name: named(file.webkitRelativePath || file.name), file }));
  return all.filter(({ file }) => !file.name.startsWith(".")).slice(0, MOST);
}

/**
 * @param {FileSystemEntry} entry
 * @param {Named[]} found
 */
async function open(entry, found) {
  if (entry.name.startsWith(".") || found.length >= MOST) return;
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => /** @type {FileSystemFileEntry} */ (entry).file(resolve, reject));
    found.push({ name: named(entry.fullPath.replace(/^\//, "")), file });
    return;
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  for (;;) {
    // A reader gives a hundred at a time, and none at the end.
    /** @type {FileSystemEntry[]} */
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return;
    for (const inside of some.sort((a, b) => a.name.localeCompare(b.name))) await open(inside, found);
  }
}

/**
 * A path as the name of one file; of a long one the end.
 * @param {string} path
 */
function named(path) {
  let name = path.replaceAll("/", " - ").replaceAll(/[\\:]/g, "_");
  while (new TextEncoder().encode(name).length > LONGEST) name = name.slice(1);
  return name.replace(/^[.\s]+/, "");
}
