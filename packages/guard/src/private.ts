import { PRIVATE, UNKNOWN } from './marks.ts';
import type { Act, Category, GuardContext, World } from './model.ts';

export function denial(category: Category, what: string, instead: string): Act {
  return { kind: 'act', category, verdict: 'deny', what, instead };
}

/** Denies showing all variables where a secret is among them, else warns. */
export function wholeEnvironment({ context: { env }, hasLoaded }: World, what: string): Act {
  const secret = hasLoaded ? 'what was loaded' : Object.keys(env).find(isSecretName);
  return {
    kind: 'act',
    category: 'credentials',
    verdict: secret === undefined ? 'warn' : 'deny',
    what: secret === undefined ? what : `${what}, with ${secret}`,
    instead: 'Print the variables that you need, by name.',
  };
}

/** Replaces private text by the names of variables, which a shell can look up again. */
export function namesOnly(text: string, { env }: GuardContext): string {
  return text.replaceAll(PRIVATE, () => [...Object.keys(env), UNKNOWN].join('\n'));
}

/** The words that make a variable's name sound secret; whole words or, for the long ones, their ends. */
const secretWord =
  /^(?:PASS|PWD|PAT|JWT|PRIVATE|\w*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|AUTH|COOKIE|DSN)S?)$/;
const soundsSecret = /pass|pwd|pat|jwt|private|key|token|secret|credential|auth|cookie|dsn/i;
const harmlessWord = /^(?:PUBLIC|MAX|MIN|NUM|COUNT|LIMIT|BUDGET)$/;
const harmlessEnd =
  /^(?:SOCK|SOCKET|PATH|FILE|DIR|HOME|URL|URI|ENDPOINT|HOST|PORT|NAME|USER|USERNAME|ID|TYPE|METHOD|MODE|PROVIDER|ALG|ALGORITHM|TTL|EXPIRY|TIMEOUT|LENGTH|ENABLED|DISABLED|REQUIRED|SCOPE|SCOPES|AUDIENCE|ISSUER|REGION|VERSION)$/;

export function isSecretName(name: string): boolean {
  if (!soundsSecret.test(name)) return false;
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .split(/[^A-Z0-9]+/);
  if (name === 'PWD') return false;
  if (words.some((word) => harmlessWord.test(word)) || harmlessEnd.test(words.at(-1) ?? '')) return false;
  return words.some((word) => secretWord.test(word));
}
