import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';

/** Smaller files compile faster than a second one is read. */
const worthBytes = 16 * 1024;
/** By then a run waits for its agent, and what it took to get there has been compiled. */
const warmMs = 500;

/**
 * From now on, large CommonJS files are loaded with what V8 made of them the last time, which halves the time of loading
 * them. It is kept beside them: whoever can write there can change the code itself. `own` is the file that asks.
 */
export function useCodeCache(own: string): void {
  const { extensions } = createRequire(own);
  const compilePlain = extensions['.js'];
  const fresh = new Map<string, Script>();
  extensions['.cjs'] = (module, filename) => {
    const source = fs.readFileSync(filename, 'utf8');
    const cacheFile = source.length < worthBytes ? null : cacheFileOf(filename, source);
    if (cacheFile === null) return compilePlain?.(module, filename);
    const { script, isFresh } = compile(source, filename, cacheFile);
    if (isFresh) fresh.set(cacheFile, script);
    const require = (id: string) => module.require(id);
    script
      .runInThisContext()
      .call(module.exports, module.exports, require, module, filename, dirname(filename));
  };
  const keep = () => {
    for (const [cacheFile, script] of fresh) keepCode(cacheFile, script);
    fresh.clear();
  };
  setTimeout(keep, warmMs).unref();
  // A usage error has not come far enough to be worth keeping.
  process.once('exit', (code) => (code === 0 || code === 1) && keep());
}

function compile(source: string, filename: string, cacheFile: string) {
  const cachedData = readKept(cacheFile);
  const wrapped = `(function (exports, require, module, __filename, __dirname) {${source}\n})`;
  const script = new Script(wrapped, { filename, ...(cachedData === undefined ? {} : { cachedData }) });
  return { script, isFresh: cachedData === undefined || script.cachedDataRejected === true };
}

/** V8 compares only the length of the source, so the build writes a hash of it into the first line; null without. */
function cacheFileOf(filename: string, source: string): string | null {
  const hash = /^\/\/ ([\da-f]{32})\n/.exec(source)?.[1];
  return hash === undefined
    ? null
    : join(dirname(filename), `.code-${hash}-${process.version}-${process.arch}`);
}

/**
 * A damaged one makes V8 crash. So it stands there twice: to compare the two takes less time than loading what could work
 * out a checksum.
 */
function readKept(path: string): Buffer | undefined {
  try {
    const both = fs.readFileSync(path);
    const half = both.length / 2;
    const code = both.subarray(0, half);
    return code.equals(both.subarray(half)) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** A folder that cannot be written costs time and nothing else. */
function keepCode(path: string, script: Script): void {
  const temporary = `${path}.${process.pid}`;
  try {
    const fd = fs.openSync(temporary, 'wx', 0o644);
    try {
      const code = script.createCachedData();
      fs.writeFileSync(fd, Buffer.concat([code, code]));
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    fs.renameSync(temporary, path);
  } catch {
    fs.rmSync(temporary, { force: true });
  }
}
