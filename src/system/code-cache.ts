import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';

/** Smaller files compile faster than a second one is read. */
const worthBytes = 4 * 1024;
/**
 * Every run needs other functions, and each time it is made it has those of the last one, too. After some times, a look at
 * whether there is more has to pay: it takes a millisecond.
 */
const alwaysTimes = 5;
const isLooking = () => process.pid % 16 === 0;
const worthMore = 1.02;
/** The hash of the source and how often the code was made. V8 wants the code to begin at a multiple of eight. */
const headLength = 40;

type Kept = { readonly path: string; readonly hash: string; readonly times: number; readonly bytes: number };
type Module = { exports: unknown; readonly require: (id: string) => unknown };

export type CodeCache = {
  /** What a CommonJS file exports. */
  readonly load: (filename: string) => unknown;
  /** Keeps the code that was compiled. The later it is called, the more of it there is. */
  readonly keep: () => void;
};

/**
 * From now on, large CommonJS files are loaded with what V8 made of them the last time, which halves the time of loading
 * them. It is kept beside them: whoever can write there can change the code itself. `require` is that of the file that
 * asks. What these files require of each other is not searched for, as Node does, which takes as long as to read it.
 */
export function useCodeCache(require: NodeJS.Require): CodeCache {
  const loaded = new Map<string, Module>();
  const unfinished: (Kept & { readonly script: Script })[] = [];
  // Code of another Node, be it of the same version, may make V8 crash.
  const size = fs.statSync(process.execPath, { throwIfNoEntry: false })?.size;
  const node = `${process.version}-${process.arch}-${size}`;

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
    const hash = source.length < worthBytes ? null : hashIn(source);
    if (hash === null) return new Script(wrapped, { filename });
    const path = join(folder, `.code-${filename.slice(folder.length + 1)}-${node}`);
    const { times, code: cachedData } = readKept(path, hash);
    const script = new Script(wrapped, { filename, ...(cachedData === undefined ? {} : { cachedData }) });
    if (script.cachedDataRejected) unfinished.push({ path, hash, times: 0, bytes: 0, script });
    else if (times < alwaysTimes) unfinished.push({ path, hash, times, bytes: 0, script });
    else if (isLooking()) unfinished.push({ path, hash, times, bytes: cachedData?.length ?? 0, script });
    return script;
  };

  require.extensions['.cjs'] = (module, filename) => {
    module.exports = load(filename);
  };
  return { load, keep: () => unfinished.splice(0).forEach(keepCode) };
}

/** V8 compares only the length of the source, so the build writes a hash of it into the first line; null without. */
function hashIn(source: string): string | null {
  return /^\/\/ ([\da-f]{32})\n/.exec(source)?.[1] ?? null;
}

/**
 * A damaged one makes V8 crash. So it stands there twice: to compare the two takes less time than loading what could work
 * out a checksum.
 */
function readKept(path: string, hash: string): { readonly times: number; readonly code?: Buffer } {
  const none = { times: 0 };
  try {
    const bytes = fs.readFileSync(path);
    const head = bytes.toString('latin1', 0, headLength);
    const middle = (headLength + bytes.length) / 2;
    const code = bytes.subarray(headLength, middle);
    const isWhole = head.startsWith(hash) && code.equals(bytes.subarray(middle));
    return isWhole ? { times: Number(head.slice(hash.length)), code } : none;
  } catch {
    return none;
  }
}

/** A folder that cannot be written costs time and nothing else. Without fsync: what a power cut tears is seen to be torn. */
function keepCode({ path, hash, times, bytes, script }: Kept & { readonly script: Script }): void {
  const temporary = `${path}.${process.pid}`;
  try {
    const fd = fs.openSync(temporary, 'wx', 0o644);
    let isMore = false;
    try {
      const head = Buffer.from(`${hash}${Math.min(times + 1, alwaysTimes)}`.padEnd(headLength));
      const code = script.createCachedData();
      isMore = code.length > bytes * worthMore;
      if (isMore) fs.writeFileSync(fd, Buffer.concat([head, code, code]));
    } finally {
      fs.closeSync(fd);
    }
    if (isMore) fs.renameSync(temporary, path);
    else remove(temporary);
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
