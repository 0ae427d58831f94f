import type { Call } from '../call.ts';
import { hostOf, isLocal, sends } from '../commands/hosts.ts';
import { isOpaque, NETWORK, UNKNOWN } from '../marks.ts';
import { found, known, opens, reads, runs, writes } from './calls.ts';
import type { Code } from './code.ts';
import { evaluate } from './values.ts';

/** What code writes that has fetched something, and what it runs of a file that was fetched. */
export function keepsFetched(call: Call, code: Code): void {
  const opened = found(code, opens).map(([, args]) => args.map((arg) => evaluate(code, arg)));
  const fetches =
    call.stdin?.includes(NETWORK) ||
    found(code, sending).some(([, args]) => {
      const url = evaluate(code, args[0] ?? '');
      return /^https?:/.test(url) && !isLocal(hostOf(url));
    });
  if (fetches) {
    for (const [, args] of found(code, writes))
      known(evaluate(code, args[0] ?? ''), (path) => call.keep(path, NETWORK));
    for (const [path = '', mode = ''] of opened)
      if (/^[wax]/.test(mode)) known(path, () => call.keep(path, NETWORK));
  }
  const files = [
    ...(/(?<![.\w])(?:exec|eval|Function|loadstring|instance_eval)\s*[( ]|\bvm\.run\w+\(/.test(code.masked)
      ? [
          ...opened.map(([path = '']) => path),
          ...found(code, reads).map(([, args]) => evaluate(code, args[0] ?? '')),
        ]
      : []),
    ...found(code, /(?<!\.)\b(?:require|load|do)\s*[( ]/g).map(([, args]) => evaluate(code, args[0] ?? '')),
  ];
  for (const file of files)
    if (
      file !== '' &&
      !/\.(json|csv|txt|ya?ml)$/.test(file) &&
      !isOpaque(file) &&
      call.content(file).includes(NETWORK)
    )
      call.deny('remote-code', 'runs what comes from the network');
}

/** Functions that take an address first and what is sent after it. */
const sending =
  /\b(?:fetch|urlopen|Request|requests\.\w+|httpx\.\w+|axios(?:\.\w+)?|got(?:\.\w+)?|https?\.(?:get|request)|Net::HTTP\.\w+|URI(?:\.open)?|file_get_contents|curl_init|lookup|resolve\w*|gethostbyname|getaddrinfo|post_form|(?:->|\.)(?:post|put|patch|request))\s*\(/g;

/** Secrets that go to a host which they are not for, and commands that come from one. */
export function requests(call: Call, code: Code): void {
  for (const [name, args] of found(code, sending)) {
    const texts = args.map((arg) => evaluate(code, arg));
    const host = hostOf(texts[0] ?? '');
    const isAddress =
      /^https?:\/\//.test(texts[0] ?? '') || (/lookup|resolve|get\w+$/.test(name) && host.includes('.'));
    if (!isAddress || host.startsWith(UNKNOWN)) continue;
    sends(call, texts.join(' '), host, true);
    const isDelete =
      /\.delete$/.test(name) || /\bmethod["']?\s*[:=]\s*["']DELETE\b/i.test(args.slice(1).join(' '));
    if (isDelete && !isLocal(host)) call.deny('cloud', `deletes something on ${host}`);
  }
  if (!/https?:\/\/(?!localhost|127\.|\[::1\])/.test(code.source) || found(code, sending).length === 0)
    return;
  if (
    found(code, runs).some(
      ([name, args]) =>
        /exec|system|popen|run|call|spawn/i.test(name) && evaluate(code, args[0] ?? '') === UNKNOWN,
    )
  )
    call.deny('remote-code', 'runs what comes from the network');
}
