import type { Call } from '../call.ts';
import { destroysData, empties, isTestRun } from '../commands/data.ts';
import { hasReadOthers } from '../commands/hosts.ts';
import { found } from './calls.ts';
import type { Code } from './code.ts';
import { evaluate } from './values.ts';

const oneLiner = 'Use plain shell commands or a script file that can be read.';

/** All variables at once, and not one by its name. */
const wholeEnvironmentIn =
  /\bos\.environ\b(?!\s*[[.])|\bprocess\.env\b(?!\s*[[.])|%ENV\b|\bENV\.to_\w+|\$_ENV\b(?!\[)|\bgetenv\(\s*\)/;

/** For a program that is started here. */
const handedOn = /\benv\s*[:=]\s*(?:dict\(\s*)?(?:os\.environ|process\.env)\b/g;

const endless =
  /\bitertools\.count\(|\biter\(\s*int\s*,|\bwhile\s*\(?\s*(1|true|True)\b|\bfor\s*\(\s*;\s*;\s*\)|\bloop\s*(do|\{)|\bsetInterval\s*\([^;]*,\s*\d?\s*\)/;

/** Writes to a file, or makes a text longer by itself. */
const grows =
  /\b(appendFile|writeFile)\w*\s*\(|\bFile\.write\b|(?<!stdout)\.write\s*\(|\bprint\s+[A-Z]+\s|\b(\w+)\s*\+=\s*\2\b/;

const paused = /\b(sleep|wait|await|break|last|return|exit|read|recv|accept|input|gets|poll)\w*\b/;

export function connections(call: Call, source: string, masked: string): void {
  if (
    (/\bfetch\b|\burlopen\b|https?\.get\b/.test(masked) ||
      /\brequire\(["'](node:)?https?["']\)\.get\b/.test(source)) &&
    /\beval\b|\bnew Function\b|\bvm\.run/.test(masked)
  ) {
    call.deny('remote-code', 'runs code from the network');
  }
  if (
    /\b(socket|fsockopen|TCPSocket|net\.(connect|Socket|createConnection)|IO::Socket|Socket::INET|connect)\b/.test(
      masked,
    ) &&
    /\b(dup2|pty|exec(?!ute)\w*|os\.execute|spawn|system|popen|shell_exec|proc_open|STDIN->fdopen|\/bin\/(ba)?sh)\b|\/bin\/(ba)?sh|`#?\{?\w/.test(
      source,
    )
  ) {
    call.deny('remote-shell', 'gives a shell to another machine', 'Do not open shells to others.');
  }
  if (
    /\bfork\b\s*(\(\s*\)\s*)?(while|until|for)\b|\bwhile\b[\s\S]{0,40}\bpcntl_fork\b|\bfork\b[^;]*\bwhile\b[^;]*\bfork\b|\bwhile\b[\s\S]{0,80}\bfork\b|\bfork\b.*\bfork\b|loop\s*\{\s*fork|for\s*\(;;\)\s*\{?\s*(\w+\.)*fork/.test(
      masked,
    ) ||
    (endless.test(masked) && /\b(spawn|fork|Popen|Process|exec)\s*\(/.test(masked) && !paused.test(masked))
  )
    call.deny('exhaustion', 'starts processes without end', oneLiner);
  if (
    /\b(kill|killpg|posix_kill)\b[^;\n]*\b(posix_)?getppid\b|\b(os\.kill|process\.kill|Process\.kill|posix_kill)\s*\(\s*(["':]?\s*["']?\w*["']?\s*,\s*)?(1\b|-1\b|os\.getppid|(process|Process)\.ppid|0\b)|\bkill\s+\S+\s*,?\s*(getppid|-?1\b)/.test(
      masked,
    )
  )
    call.deny('process', 'ends the agent or every process');
  if (
    /\b(process_iter|psutil\.pids)\b/.test(masked) &&
    /\.(kill|terminate|suspend)\s*\(/.test(masked) &&
    !/\bname\b|\bcmdline\b/.test(masked)
  )
    call.deny('process', 'ends every process');
  if (/\b(os\.setuid|posix_setuid|process\.setuid|Process::UID)\b.*\b0\b/.test(masked))
    call.deny('privilege', 'becomes root', 'Work as the user that you are.');
  if (wholeEnvironmentIn.test(masked.replace(handedOn, '')) && /https?:\/\/(?!localhost|127\.)/.test(source))
    call.deny('exfiltration', 'sends the environment away');
  if (
    /\b(requests\.(post|put)|urlopen|http\.client|fetch|https?\.request|axios\.post|Net::HTTP|curl_exec|LWP|smtplib|net\.(connect|createConnection)|TCPSocket|create_connection|fsockopen|IO::Socket)\b/.test(
      masked,
    ) &&
    (/environ\b|process\.env\b(?!\.)|\bENV\.to_h/.test(masked) ||
      (hasReadOthers(call) && !/\b(localhost|127\.0\.0\.1)\b/.test(source)))
  ) {
    call.deny('exfiltration', 'sends private data away');
  }
}

/** Rights, rows and memory, as far as a call says plainly what it does with them. */
export function bodies(call: Call, code: Code): void {
  const { masked, source, language } = code;
  if (/\bchmod\w*\s*[( ][^);]{0,200}\b0o?[4-7][0-7]{3}\b/.test(masked))
    call.deny('privilege', 'sets the set-user-id bit', 'Run the program as the user who needs it.');
  for (const [, args] of found(code, /(?:\.|->)(?:query|execute|executescript|exec|run|do)\s*\(/g)) {
    const [, inner] = /^[\w.]*\b(?:text|sql|raw)\((.*)\)$/is.exec(args[0] ?? '') ?? [];
    const what = destroysData(evaluate(code, inner ?? args[0] ?? ''));
    if (what !== null && !/:memory:|\btest\b|\/tmp\//.test(source))
      call.deny('database', `${what} in the database`);
  }
  const tests = /:memory:|\btest\b|\/tmp\//.test(source) || isTestRun(call);
  if (empties.test(masked) && !tests) call.deny('database', 'empties a table or a store');
  if (
    /\b(boto3|aws-sdk|google\.cloud|googleapis|azure\.mgmt|octokit|kubernetes)\b/.test(source) &&
    /\.(delete|terminate|destroy|purge|stop_instances)\w*\s*\(|\b(Delete|Terminate)\w+Command\b/.test(masked)
  )
    call.deny('cloud', 'takes down what runs in the cloud');
  for (const [, args] of found(code, /\b(?:import|include|include_once|require|require_once)\s*[( ]/g))
    if (/^https?:/.test(evaluate(code, args[0] ?? '')))
      call.deny('remote-code', 'runs code from the network');
  if (endless.test(masked) && grows.test(masked) && !paused.test(masked))
    call.deny('exhaustion', 'fills the disk or the memory', 'Give the loop an end.');
  if (language === 'perl' && /(\.=|\bpush\b|\bx=)[^;]*\bwhile\s*\(?\s*1\b/.test(masked))
    call.deny('exhaustion', 'fills the memory', 'Give the loop an end.');
  if (
    /\b(while\s*\(?\s*(1|true|True)\b|for\s*\(\s*;\s*;\s*\)|loop\s*(do|\{))[^;\n]{0,80}\n?[^;\n]{0,80}(\bpush\b|\.append\b|\.push\b|<<|\balloc)/.test(
      masked,
    ) &&
    !/\b(break|last|return|exit)\b/.test(masked)
  )
    call.deny('exhaustion', 'fills the memory', 'Give the loop an end.');
  if (
    language === 'perl' &&
    /\b(tr|y)\/[^/]+\/[^/]+\//.test(source) &&
    /\b(system|exec|eval)\s*\(?\s*\$/.test(masked)
  )
    call.deny('obfuscation', 'runs text that was encoded');
}
