// Rules of the source that neither the compiler, the linter nor the import check can express: what may stand where.
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const tests = /\.test\.tsx?$/;
const source = /^(src|packages\/\w+\/src)\/.*\.[cm]?[jt]sx?$/;
const code = /^(src|packages|test|bench|scripts|plugins)\/.*\.[cm]?[jt]sx?$|^[^/]*\.[cm]?[jt]s$/;

/** `where` a rule holds, but for the files in `except`; a match of `pattern` is a breach. */
const rules = [
  {
    rule: 'process.exit only in src/cli',
    where: source,
    except: [/^src\/cli\//, /^src\/testkit\/fake-agent/, /^packages\/guard\/src\/guard\.ts$/, tests],
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
  return [...breaches.flat(), ...(await wordBreaches(root, files)), ...(await lostPaths(root, files))];
}

/** Names of files and of options with a word that the last line of CONTEXT.md rules out. */
async function wordBreaches(root, files) {
  const words = wordsIn((await textOf(root, 'CONTEXT.md')).trim().split('\n').at(-1));
  const hasWord = (name) => words.some((word) => new RegExp(`\\b${word}\\b`).test(name));
  const ruledOut = files
    .filter((file) => (source.test(file) || /^test\/.*\.ts$/.test(file)) && hasWord(basename(file)))
    .map((file) => `${file}:1 a word that CONTEXT.md rules out`);
  const optionFiles = files.filter((file) => /^src\/cli\/\w+\/options\.ts$/.test(file));
  const options = optionFiles.map(async (file) => {
    const text = await textOf(root, file);
    const names = text.matchAll(/^ {2}'?([\w-]+)'?: \{|aliases: (\[.*?\])/gm);
    const wrong = [...names].filter(([, name, aliases]) => hasWord(name ?? aliases));
    return wrong.map(
      ({ index }) => `${file}:${lineAt(text, index)} an option with a word that CONTEXT.md rules out`,
    );
  });
  return [...ruledOut, ...(await Promise.all(options)).flat()];
}

/** Paths of the source that the maps name and nobody finds. */
async function lostPaths(root, files) {
  const maps = ['ARCHITECTURE.md', 'AGENTS.md', 'CONTRIBUTING.md'];
  const isThere = (path) =>
    files.some((file) => [file, dirname(file)].some((name) => `${name}/`.startsWith(`${path}/`)));
  const lost = maps.map(async (map) => {
    const text = await textOf(root, map);
    const paths = wordsIn(text).filter((word) =>
      /^(src|core|agents|os|config|journal|sandbox|drive|fleet|cluster|show|cli|testkit)\/[\w/.-]+$/.test(
        word,
      ),
    );
    return paths
      .map((path) => path.replace(/^src\//, '').replace(/\/$/, ''))
      .filter((path) => !isThere(`src/${path}`))
      .map((path) => `${map}:1 names ${path}, which is not there`);
  });
  return (await Promise.all(lost)).flat();
}

/** What stands in backticks. */
function wordsIn(text) {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, word]) => word);
}

/** Empty for a file that is not there. */
function textOf(root, file) {
  return readFile(join(root, file), 'utf8').catch(() => '');
}

async function breachesIn(root, file) {
  const relevant = rules.filter(
    ({ where, except }) => where.test(file) && !except.some((pattern) => pattern.test(file)),
  );
  const text = await textOf(root, file); // A deleted file is still in the index.
  return relevant.flatMap(({ rule, pattern }) =>
    [...text.matchAll(pattern)].map(({ index }) => `${file}:${lineAt(text, index)} ${rule}`),
  );
}

function lineAt(text, index) {
  return text.slice(0, index).split('\n').length;
}
