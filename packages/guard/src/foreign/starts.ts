import type { Call } from '../call.ts';
import { feed } from '../feed.ts';
import { isOpaque, UNKNOWN } from '../marks.ts';
import { found } from './calls.ts';
import type { Code } from './code.ts';
import { evaluate, listOf } from './values.ts';

/** Programs whose output goes where that of the code goes, without a word about it. */
const inherits =
  /^(os\.(system|exec|spawn)|(subprocess|sp|s)\.(run|call|check_call|Popen)$|system|exec$|passthru)/;

/** What the code starts, one after the other; answers with what is printed of it. */
export function startAll(call: Call, code: Code, calls: readonly (readonly [string, string[]])[]): string {
  if (calls.length === 0) return '';
  const prints = /\b(print|console\.log|puts|echo|say|stdout\.write)\b/.test(code.masked);
  const [, [told] = []] = found(code, /\.communicate\s*\(/g)[0] ?? [];
  return calls.map(([name, args]) => execution(call, code, name, args, { prints, told })).join('');
}

type Talk = { readonly prints: boolean; readonly told: string | undefined };

function execution(
  call: Call,
  code: Code,
  name: string,
  args: readonly string[],
  { prints, told }: Talk,
): string {
  const output = started(call, code, name, args, told);
  const options = args.slice(1).join(' ');
  const shown =
    /inherit/.test(options) || (inherits.test(name) && !/capture_output|stdout\s*=/.test(options));
  // What is caught is mostly caught to be printed.
  return shown || (prints && isOpaque(output)) ? output : '';
}

function started(
  call: Call,
  code: Code,
  name: string,
  args: readonly string[],
  told: string | undefined,
): string {
  const [first = '', second] = args.map((arg) => arg.replace(/^args\s*=\s*/, ''));
  const [, at = ''] = /(?:^|[{,\s])cwd\s*[:=]\s*([^,}]+)/.exec(args.slice(1).join(', ')) ?? [];
  const cwd = at === '' ? UNKNOWN : evaluate(code, at);
  const input = told ?? args.find((arg) => /^input\s*=/.test(arg))?.replace(/^input\s*=/, '');
  const stdin = input === undefined ? null : evaluate(code, input);
  const more = { stdin, ...(isOpaque(cwd) ? {} : { cwd }) };
  const list = listOf(code, first);
  const others = second === undefined ? null : listOf(code, second);
  const texts = args
    .filter((arg) => !/^\w+\s*=[^=]|^\{|^(function|\()/.test(arg))
    .map((arg) => evaluate(code, arg));
  if (/pty\.spawn/.test(name) && /socket/.test(code.masked)) return '';
  if (list)
    return call.run(
      list.filter((word) => word !== ''),
      more,
    );
  if (others && !/^\s*\{/.test(second ?? ''))
    return call.run(
      /execv|execl|posix_spawn/.test(name)
        ? [texts[0] ?? '', ...others.slice(1)]
        : [texts[0] ?? '', ...others],
      more,
    );
  if (
    texts.length > 1 &&
    (/^exec\.Command$|subprocess_exec$/.test(name) ||
      (/^(system|exec|os\.execl\w*|os\.spawn\w*)$/.test(name) && /perl|ruby|python/.test(code.language)))
  )
    return call.run(
      texts.filter((word) => word !== ''),
      more,
    );
  if (code.language === 'python' && name === 'exec') return '';
  return feed(call, texts[0] ?? '', (text) => call.script(text, more));
}
