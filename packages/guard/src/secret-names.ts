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
