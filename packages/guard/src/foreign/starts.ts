import type { Call } from '../call.ts';
import { feed } from '../feed.ts';
import { isOpaque, UNKNOWN } from '../marks.ts';
import { firstValues, type Invocation } from './calls.ts';
import type { Code } from './code.ts';
import { evaluate, listOf } from './values.ts';

/** Programs whose output goes where that of the code goes, without a word about it. */
const inherits =
  /^(os\.(system|exec|spawn)|(subprocess|sp|s)\.(run|call|check_call|Popen)$|system|exec$|passthru)/;

/** Judges the programs that the code starts, in order; returns their output. */
export function startAll(call: Call, code: Code, calls: readonly Invocation[]): string {
  if (calls.length === 0) return '';
  const prints = /\b(print|console\.log|puts|echo|say|stdout\.write)\b/.test(code.masked);
  const [input] = firstValues(code, /\.communicate\s*\(/g);
  return calls
    .map((invocation) => {
      const output = start(call, code, invocation, input);
      const options = invocation.args.slice(1).join(' ');
      const isVisible =
        /inherit/.test(options) ||
        (inherits.test(invocation.name) && !/capture_output|stdout\s*=/.test(options));
      // What is caught is mostly caught to be printed.
      return isVisible || (prints && isOpaque(output)) ? output : '';
    })
    .join('');
}

function start(call: Call, code: Code, { name, args }: Invocation, input: string | undefined): string {
  const [first = '', second] = args.map((arg) => arg.replace(/^args\s*=\s*/, ''));
  const [, at = ''] = /(?:^|[{,\s])cwd\s*[:=]\s*([^,}]+)/.exec(args.slice(1).join(', ')) ?? [];
  const cwd = at === '' ? UNKNOWN : evaluate(code, at);
  const option = args.find((arg) => /^input\s*=/.test(arg))?.replace(/^input\s*=/, '');
  const stdin = input ?? (option === undefined ? null : evaluate(code, option));
  const more = { stdin, ...(isOpaque(cwd) ? {} : { cwd }) };
  const run = (words: readonly string[]) => call.run(words.filter(Boolean), more);
  const list = listOf(code, first);
  const others = second === undefined || /^\s*\{/.test(second) ? null : listOf(code, second);
  const texts = args
    .filter((arg) => !/^\w+\s*=[^=]|^\{|^(function|\()/.test(arg))
    .map((arg) => evaluate(code, arg));
  const [program = ''] = texts;
  if (/pty\.spawn/.test(name) && /socket/.test(code.masked)) return '';
  if (list) return run(list);
  if (others) return run([program, ...(/execv|execl|posix_spawn/.test(name) ? others.slice(1) : others)]);
  const takesWords =
    /^exec\.Command$|subprocess_exec$/.test(name) ||
    (/^(system|exec|os\.execl\w*|os\.spawn\w*)$/.test(name) && /perl|ruby|python/.test(code.language));
  if (texts.length > 1 && takesWords) return run(texts);
  if (code.language === 'python' && name === 'exec') return '';
  return feed(call, program, (text) => call.script(text, more));
}
