// Rules of the source that neither the compiler, the linter nor the import check can express: what may stand where.
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const tests = /\.test\.ts$/;
const source = /^src\/.*\.[cm]?[jt]sx?$/;
const code = /^(src|test|bench|scripts|plugins)\/.*\.[cm]?[jt]s$|^[^/]*\.[cm]?[jt]s$/;

/** `where` a rule holds, but for the files in `except`; a match of `pattern` is a breach. */
const rules = [
  {
    rule: 'process.exit only in src/cli',
    where: source,
    except: [/^src\/cli\//, /^src\/testkit\/fake-agent/, tests],
    pattern: /\bprocess\.exit\(/g,
  },
  {
    rule: 'console only in src/cli',
    where: source,
    except: [/^src\/cli\//, /^src\/testkit\/fake-agent/, tests],
    pattern: /\bconsole\.\w/g,
  },
  {
    rule: 'no process through a shell of the runtime',
    where: code,
    except: [],
    pattern: /\bshell['"]?\s*:\s*(true|process)\b/g,
  },
  {
    rule: 'no exec, which is a shell too (take execFile or spawn)',
    where: code,
    except: [],
    pattern: /\{[^{}]*\bexec(Sync)?\b[^{}]*\}\s*from\s*'node:child_process'/g,
  },
  {
    rule: 'no default exports',
    where: source,
    except: [],
    pattern: /^export\s+default\b|\bas\s+default\b/gm,
  },
  {
    rule: 'no path of a machine (in examples, the user is called user, dev, me, alice or x)',
    where: /./,
    except: [],
    pattern:
      /(?<![\w~.}-])(\/work\/|\/root\/|(\/home\/|\/Users\/|\bC:\\+Users\\+)(?!(user|dev|me|alice|x)\b)\w)/g,
  },
  {
    rule: 'no address of a package registry',
    where: /./,
    except: [],
    pattern: /https?:\/\/[\w.:@-]*(registry|artifactory|verdaccio|nexus)[\w-]*\.[\w.:/-]+/gi,
  },
];

/** Every breach in the files of the repository at `root`, as `file:line rule`. */
export async function findBreaches(root) {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', list, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 }).split('\0');
  const breaches = await Promise.all(files.filter(Boolean).map((file) => breachesIn(root, file)));
  return breaches.flat();
}

async function breachesIn(root, file) {
  const relevant = rules.filter(
    ({ where, except }) => where.test(file) && !except.some((pattern) => pattern.test(file)),
  );
  const text = await readFile(join(root, file), 'utf8').catch(() => ''); // A deleted file is still in the index.
  return relevant.flatMap(({ rule, pattern }) =>
    [...text.matchAll(pattern)].map(({ index }) => `${file}:${lineAt(text, index)} ${rule}`),
  );
}

function lineAt(text, index) {
  return text.slice(0, index).split('\n').length;
}
