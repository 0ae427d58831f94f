/** Words in the name of a variable that holds a secret; whole words or, for the long ones, their ends. */
const secretWord =
  /^(?:PASS|PWD|PAT|JWT|PRIVATE|\w*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|AUTH|COOKIE|DSN)S?)$/;
/** Words for a value that is only about a secret, or public. */
const harmlessWord = /^(?:PUBLIC|MAX|MIN|NUM|COUNT|LIMIT|BUDGET)$/;
const harmlessEnd =
  /^(?:SOCK|SOCKET|PATH|FILE|DIR|HOME|URL|URI|ENDPOINT|HOST|PORT|NAME|USER|USERNAME|ID|TYPE|METHOD|MODE|PROVIDER|ALG|ALGORITHM|TTL|EXPIRY|TIMEOUT|LENGTH|ENABLED|DISABLED|REQUIRED|SCOPE|SCOPES|AUDIENCE|ISSUER|REGION|VERSION)$/;

/** True if a variable of this name is likely to hold a secret. */
export function isSecretName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .split(/[^A-Z0-9]+/);
  if (name === 'PWD') return false;
  if (words.some((word) => harmlessWord.test(word)) || harmlessEnd.test(words.at(-1) ?? '')) return false;
  return words.some((word) => secretWord.test(word));
}
