import type { Call } from '../call.ts';
import { destroysData, empties, isTestRun } from '../commands/data.ts';
import { hasReadOthers } from '../commands/hosts.ts';
import type { Category } from '../model.ts';
import { callsIn, firstValues } from './calls.ts';
import type { Code, Language } from './code.ts';
import { evaluate } from './values.ts';

/** Denied where the code without its texts matches all of the patterns but `not`, and with its texts matches `source`. */
type Harm = {
  readonly denies: readonly [category: Category, what: string, instead?: string];
  readonly language?: Language;
  readonly code: readonly RegExp[];
  readonly not?: RegExp;
  readonly source?: RegExp;
};

const fetched: Harm['denies'] = ['remote-code', 'runs code from the network'];
const processes: Harm['denies'] = ['exhaustion', 'starts processes without end', 'Use plain shell commands.'];
const filled: Harm['denies'] = ['exhaustion', 'fills the disk or the memory', 'Give the loop an end.'];
const runsText = /\beval\b|\bnew Function\b|\bvm\.run/;
const endless =
  /\bitertools\.count\(|\biter\(\s*int\s*,|\bwhile\s*\(?\s*(1|true|True)\b|\bfor\s*\(\s*;\s*;\s*\)|\bloop\s*(do|\{)|\bsetInterval\s*\([^;]*,\s*\d?\s*\)/;
const grows =
  /\b(appendFile|writeFile)\w*\s*\(|\bFile\.write\b|(?<!stdout)\.write\s*\(|\bprint\s+[A-Z]+\s|\b(\w+)\s*\+=\s*\2\b/;
const paused = /\b(sleep|wait|await|break|last|return|exit|read|recv|accept|input|gets|poll)\w*\b/;

const harms: readonly Harm[] = [
  { denies: fetched, code: [/\bfetch\b|\burlopen\b|https?\.get\b/, runsText] },
  { denies: fetched, code: [runsText], source: /\brequire\(["'](node:)?https?["']\)\.get\b/ },
  {
    denies: ['remote-shell', 'gives a shell to another machine', 'Do not open shells to others.'],
    code: [
      /\b(socket|fsockopen|TCPSocket|net\.(connect|Socket|createConnection)|IO::Socket|Socket::INET|connect)\b/,
    ],
    source:
      /\b(dup2|pty|exec(?!ute)\w*|os\.execute|spawn|system|popen|shell_exec|proc_open|STDIN->fdopen)\b|\/bin\/(ba)?sh|`#?\{?\w/,
  },
  {
    denies: processes,
    code: [
      /\bfork\b\s*(\(\s*\)\s*)?(while|until|for)\b|\bwhile\b[\s\S]{0,40}\bpcntl_fork\b|\bfork\b[^;]*\bwhile\b[^;]*\bfork\b|\bwhile\b[\s\S]{0,80}\bfork\b|\bfork\b.*\bfork\b|loop\s*\{\s*fork|for\s*\(;;\)\s*\{?\s*(\w+\.)*fork/,
    ],
  },
  { denies: processes, code: [endless, /\b(spawn|fork|Popen|Process|exec)\s*\(/], not: paused },
  {
    denies: ['process', 'ends the agent or every process'],
    code: [
      /\b(kill|killpg|posix_kill)\b[^;\n]*\b(posix_)?getppid\b|\b(os\.kill|process\.kill|Process\.kill|posix_kill)\s*\(\s*(["':]?\s*["']?\w*["']?\s*,\s*)?(1\b|-1\b|os\.getppid|(process|Process)\.ppid|0\b)|\bkill\s+\S+\s*,?\s*(getppid|-?1\b)/,
    ],
  },
  {
    denies: ['process', 'ends every process'],
    code: [/\b(process_iter|psutil\.pids)\b/, /\.(kill|terminate|suspend)\s*\(/],
    not: /\bname\b|\bcmdline\b/,
  },
  {
    denies: ['privilege', 'becomes root', 'Work as the user that you are.'],
    code: [/\b(os\.setuid|posix_setuid|process\.setuid|Process::UID)\b.*\b0\b/],
  },
  {
    denies: ['privilege', 'sets the set-user-id bit', 'Run the program as the user who needs it.'],
    code: [/\bchmod\w*\s*[( ][^);]{0,200}\b0o?[4-7][0-7]{3}\b/],
  },
  {
    denies: ['cloud', 'takes down what runs in the cloud'],
    code: [/\.(delete|terminate|destroy|purge|stop_instances)\w*\s*\(|\b(Delete|Terminate)\w+Command\b/],
    source: /\b(boto3|aws-sdk|google\.cloud|googleapis|azure\.mgmt|octokit|kubernetes)\b/,
  },
  { denies: filled, code: [endless, grows], not: paused },
  { denies: filled, language: 'perl', code: [/(\.=|\bpush\b|\bx=)[^;]*\bwhile\s*\(?\s*1\b/] },
  {
    denies: filled,
    code: [
      /\b(while\s*\(?\s*(1|true|True)\b|for\s*\(\s*;\s*;\s*\)|loop\s*(do|\{))[^;\n]{0,80}\n?[^;\n]{0,80}(\bpush\b|\.append\b|\.push\b|<<|\balloc)/,
    ],
    not: /\b(break|last|return|exit)\b/,
  },
  {
    denies: ['obfuscation', 'runs text that was encoded'],
    language: 'perl',
    code: [/\b(system|exec|eval)\s*\(?\s*\$/],
    source: /\b(tr|y)\/[^/]+\/[^/]+\//,
  },
];

const wholeEnvironmentIn =
  /\bos\.environ\b(?!\s*[[.])|\bprocess\.env\b(?!\s*[[.])|%ENV\b|\bENV\.to_\w+|\$_ENV\b(?!\[)|\bgetenv\(\s*\)/;
const handedOn = /\benv\s*[:=]\s*(?:dict\(\s*)?(?:os\.environ|process\.env)\b/g;
const connects =
  /\b(requests\.(post|put)|urlopen|http\.client|fetch|https?\.request|axios\.post|Net::HTTP|curl_exec|LWP|smtplib|net\.(connect|createConnection)|TCPSocket|create_connection|fsockopen|IO::Socket)\b/;

/** Denies what code does to the machine, to data and to private files, as far as its calls say so plainly. */
export function denyHarm(call: Call, source: string, code: Code): void {
  const { masked } = code;
  for (const harm of harms) if (isHarm(harm, source, code)) call.deny(...harm.denies);
  if (wholeEnvironmentIn.test(masked.replace(handedOn, '')) && /https?:\/\/(?!localhost|127\.)/.test(source))
    call.deny('exfiltration', 'sends the environment away');
  const hasPrivate =
    /environ\b|process\.env\b(?!\.)|\bENV\.to_h/.test(masked) ||
    (hasReadOthers(call) && !/\b(localhost|127\.0\.0\.1)\b/.test(source));
  if (hasPrivate && connects.test(masked)) call.deny('exfiltration', 'sends private data away');
  denyDataLoss(call, code);
  const modules = firstValues(code, /\b(?:import|include|include_once|require|require_once)\s*[( ]/g);
  if (modules.some((module) => /^https?:/.test(module))) call.deny(...fetched);
}

function isHarm({ language, code, not, source: texts }: Harm, source: string, subject: Code): boolean {
  const { masked } = subject;
  if (language !== undefined && language !== subject.language) return false;
  return code.every((pattern) => pattern.test(masked)) && !not?.test(masked) && texts?.test(source) !== false;
}

function denyDataLoss(call: Call, code: Code): void {
  const tests = /:memory:|\btest\b|\/tmp\//.test(code.source);
  if (tests) return;
  for (const { args } of callsIn(code, /(?:\.|->)(?:query|execute|executescript|exec|run|do)\s*\(/g)) {
    const [, inner] = /^[\w.]*\b(?:text|sql|raw)\((.*)\)$/is.exec(args[0] ?? '') ?? [];
    const what = destroysData(evaluate(code, inner ?? args[0] ?? ''));
    if (what !== null) call.deny('database', `${what} in the database`);
  }
  if (empties.test(code.masked) && !isTestRun(call)) call.deny('database', 'empties a table or a store');
}
