import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';

/** Smaller files compile faster than a second one is read. */
const worthBytes = 4 * 1024;
const hashLength = 32;

type Module = { exports: unknown; readonly require: (id: string) => unknown };
type Kept = { readonly path: string; readonly hash: string };

export type CodeCache = {
  /** What a CommonJS file exports. */
  readonly load: (filename: string) => unknown;
  /** Keeps the code that had to be compiled. The later it is called, the more of it there is. */
  readonly keep: () => void;
};

/**
 * From now on, large CommonJS files are loaded with what V8 made of them the last time, which halves the time of loading
 * them. It is kept beside them: whoever can write there can change the code itself. `require` is that of the file that
 * asks. What these files require of each other is not searched for, as Node does, which takes as long as to read it.
 */
export function useCodeCache(require: NodeJS.Require): CodeCache {
  const loaded = new Map<string, Module>();
  const fresh: (Kept & { readonly script: Script })[] = [];

  const load = (filename: string): unknown => {
    const known = loaded.get(filename);
    if (known) return known.exports;
    const folder = dirname(filename);
    const requireFrom = (id: string) => (id.startsWith('.') ? load(join(folder, id)) : require(id));
    const module: Module = { exports: {}, require: requireFrom };
    loaded.set(filename, module);
    try {
      const run = compile(filename, folder).runInThisContext();
      run.call(module.exports, module.exports, requireFrom, module, filename, folder);
    } catch (error) {
      loaded.delete(filename);
      throw error;
    }
    return module.exports;
  };

  const compile = (filename: string, folder: string): Script => {
    const source = fs.readFileSync(filename, 'utf8');
    const wrapped = `(function (exports, require, module, __filename, __dirname) {${source}\n})`;
    const kept = source.length < worthBytes ? null : keptFor(filename, folder, source);
    const cachedData = kept === null ? undefined : readKept(kept);
    const script = new Script(wrapped, { filename, ...(cachedData === undefined ? {} : { cachedData }) });
    const isFresh = cachedData === undefined || script.cachedDataRejected === true;
    if (kept !== null && isFresh) fresh.push({ ...kept, script });
    return script;
  };

  require.extensions['.cjs'] = (module, filename) => {
    module.exports = load(filename);
  };
  return { load, keep: () => fresh.splice(0).forEach(keepCode) };
}

/**
 * Where the code of a file is kept; null for a file that nobody can tell from another one: V8 compares only the length of
 * the source, so the build writes a hash of it into the first line. Each Node has its own, because code of another one, be
 * it of the same version, may make V8 crash.
 */
function keptFor(filename: string, folder: string, source: string): Kept | null {
  const hash = /^\/\/ ([\da-f]{32})\n/.exec(source)?.[1];
  if (hash === undefined) return null;
  const { version, arch, execPath } = process;
  const name = `${filename.slice(folder.length + 1)}-${version}-${arch}-${fs.statSync(execPath).size}`;
  return { path: join(folder, `.code-${name}`), hash };
}

/**
 * A damaged one makes V8 crash. So it stands there twice: to compare the two takes less time than loading what could work
 * out a checksum.
 */
function readKept({ path, hash }: Kept): Buffer | undefined {
  try {
    const bytes = fs.readFileSync(path);
    if (bytes.toString('latin1', 0, hashLength) !== hash) return undefined;
    const middle = (hashLength + bytes.length) / 2;
    const code = bytes.subarray(hashLength, middle);
    return code.equals(bytes.subarray(middle)) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** A folder that cannot be written costs time and nothing else. */
function keepCode({ path, hash, script }: Kept & { readonly script: Script }): void {
  const temporary = `${path}.${process.pid}`;
  try {
    const fd = fs.openSync(temporary, 'wx', 0o644);
    try {
      const code = script.createCachedData();
      fs.writeFileSync(fd, Buffer.concat([Buffer.from(hash), code, code]));
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    fs.renameSync(temporary, path);
  } catch {
    remove(temporary);
  }
}

function remove(path: string): void {
  try {
    fs.unlinkSync(path);
  } catch {
    return;
  }
}
