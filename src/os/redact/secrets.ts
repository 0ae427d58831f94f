export type Env = Readonly<Record<string, string | undefined>>;

/** An exact text to redact, and the name that replaces it. */
export type SecretValue = { readonly label: string; readonly value: string };

/** A kind of token with a known prefix. */
export type SecretFormat = {
  readonly label: string;
  readonly prefixes: readonly string[];
  /** Finds the first character that cannot be part of the token. */
  readonly end: RegExp;
  /** Matches the part after the prefix that is replaced. */
  readonly rest: RegExp;
  /** How many characters `rest` sees; if it matches all of them, the token is replaced to its end. */
  readonly limit: number;
  /** Keeps the prefix, which is no secret and says what was there. */
  readonly keepPrefix?: boolean;
  /** No token after two letters: `task-…` is not `sk-…`. One letter may be that of `\n`. */
  readonly notInWord?: boolean;
};

const keyHolders = ['', 'RSA ', 'EC ', 'DSA ', 'OPENSSH ', 'ENCRYPTED '];

/** Patterns see the stream as Latin-1 text, one character per byte. Of two that begin alike the longer match wins. */
export const secretFormats: readonly SecretFormat[] = [
  token('anthropic-key', ['sk-ant-'], /^[\w-]{20,}/),
  {
    ...token('api-key', ['sk-'], /^(?=[\w-]*\d)(?=[\w-]*[A-Za-z0-9]{16})[\w-]+/),
    limit: 128,
    notInWord: true,
  },
  token('stripe-key', ['sk_live_', 'rk_live_', 'sk_test_'], /^\w{16,}/),
  token('github-token', ['ghp_', 'gho_', 'ghs_', 'ghu_', 'ghr_'], /^[\w-]{30,}(?:\.[\w-]+)*/),
  token('github-token', ['github_pat_'], /^\w{30,}/),
  token('gitlab-token', ['glpat-'], /^[\w-]{16,}(?:\.\w+)*/),
  token('slack-token', ['xoxa-', 'xoxb-', 'xoxp-', 'xoxr-', 'xoxs-'], /^[\w-]{10,}/),
  token('aws-key-id', ['AKIA', 'ASIA'], /^[A-Z0-9]{16,}/),
  token('google-key', ['AIza'], /^[\w-]{35,}/),
  token('npm-token', ['npm_'], /^[A-Za-z0-9]{36,}/),
  token('huggingface-token', ['hf_'], /^[A-Za-z0-9]{30,}/),
  token('amp-token', ['sgamp_'], /^\w{16,}/),
  token('jwt', ['eyJ'], /^[\w-]{10,512}\.eyJ[\w-]{8,}(?:\.[\w-]*)?/),
  {
    label: 'bearer-token',
    prefixes: ['Bearer ', 'bearer '],
    end: /[^\w.~+/=-]/g,
    rest: /^(?=.*\d).{20,}/,
    limit: 1024,
    keepPrefix: true,
  },
  {
    label: 'url-credentials',
    prefixes: ['://'],
    end: /[\0-\x20\x7f"'<>\\^`{|}[\]/?#]/g,
    rest: /^[^:@]*:(?![$*]).+(?=@)/,
    limit: 512,
    keepPrefix: true,
  },
  {
    label: 'private-key',
    prefixes: [
      ...keyHolders.map((holder) => `BEGIN ${holder}PRIVATE KEY-----`),
      'BEGIN PGP PRIVATE KEY BLOCK-----',
    ],
    // Newlines may be escaped, and a tool may have put `12→` or `12|` before each line.
    end: /[^A-Za-z0-9+/=\s\\:,.|\xe2\x86\x92-]/g,
    // Base64 has to follow soon. A block whose end is missing goes to its last long run of it.
    rest: /^(?=.{0,400}?[A-Za-z0-9+/]{40})(?:.*?-----END [A-Z0-9 ]+-----|.*[A-Za-z0-9+/]{40,}={0,2})/s,
    limit: 16_384,
  },
];

function token(label: string, prefixes: readonly string[], rest: RegExp): SecretFormat {
  return { label, prefixes, end: /[^\w.-]/g, rest, limit: 1024 };
}

/** Words in the name of a variable that holds a secret; whole words or, for the long ones, their ends. */
const secretWord =
  /^(?:PASS|PWD|PAT|JWT|PRIVATE|\w*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|AUTH|COOKIE|DSN)S?)$/;
/** Rules out most names at once. */
const soundsSecret = /pass|pwd|pat|jwt|private|key|token|secret|credential|auth|cookie|dsn/i;
/** Words for a value that is only about a secret, or public. */
const harmlessWord = /^(?:PUBLIC|MAX|MIN|NUM|COUNT|LIMIT|BUDGET)$/;
const harmlessEnd =
  /^(?:SOCK|SOCKET|PATH|FILE|DIR|HOME|URL|URI|ENDPOINT|HOST|PORT|NAME|USER|USERNAME|ID|TYPE|METHOD|MODE|PROVIDER|ALG|ALGORITHM|TTL|EXPIRY|TIMEOUT|LENGTH|ENABLED|DISABLED|REQUIRED|SCOPE|SCOPES|AUDIENCE|ISSUER|REGION|VERSION)$/;

/** Values of such variables that are also in every second file. */
const commonValues = new Set([
  ...['password', 'password1', 'passw0rd', 'changeme', 'changeit', '12345678', '123456789', '1234567890'],
  ...['postgres', 'postgresql', 'localhost', 'username', 'anonymous', 'keychain', 'production'],
  ...['development', 'required', 'optional', 'disabled', 'undefined', 'redacted'],
]);

const shortestSecret = 8;
const urlWithPassword = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*?:([^/?#\s]+)@/i;

/** Returns the text that replaces a secret. */
export function placeholder(label: string): string {
  return `[redacted:${label}]`;
}

/** True if a variable of this name is likely to hold a secret. */
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

/** Returns the secret values of the environment, in each form in which they may be written. */
export function secretValues(env: Env): SecretValue[] {
  const forms = new Set<string>();
  const secrets: SecretValue[] = [];
  const folders = knownFolders(env);
  for (const [name, value] of Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1))) {
    for (const secret of valuesOf(name, value?.trim() ?? '')) {
      if (!isWorthHiding(secret, folders)) continue;
      for (const form of formsOf(secret)) {
        if (forms.has(form)) continue;
        forms.add(form);
        secrets.push({ label: name.replace(/[^\w.-]/g, '_'), value: form });
      }
    }
  }
  // A value that is part of a placeholder would be found again in replaced text.
  const placeholders = [...secrets, ...secretFormats].map(({ label }) => placeholder(label)).join('\n');
  return secrets.filter(({ value }) => !placeholders.includes(value));
}

function valuesOf(name: string, value: string): string[] {
  const password = urlWithPassword.exec(value)?.[1];
  if (password !== undefined) return [value, password, unescapeUrl(password)];
  return isSecretName(name) ? [value] : [];
}

function isWorthHiding(value: string, folders: readonly string[]): boolean {
  if (value.length < shortestSecret || commonValues.has(value.toLowerCase())) return false;
  return !folders.some(
    (folder) => value.startsWith(folder) && /^(?:$|[/\\])/.test(value.slice(folder.length)),
  );
}

function knownFolders(env: Env): string[] {
  const variables = [env.HOME, env.USERPROFILE, env.PWD, env.TMPDIR, env.XDG_RUNTIME_DIR];
  const searched = (env.PATH ?? env.Path ?? '').split(/;|:(?!\\)/);
  const folders = [...variables, ...searched, '/etc', '/opt', '/run', '/tmp', '/usr', '/var'];
  return folders.flatMap((folder) => folder?.replace(/[/\\]+$/, '') || []);
}

/** Returns a secret as it is, inside JSON (once, twice, ASCII only, with escaped slashes or HTML), and inside a URL or a form. */
function formsOf(secret: string): Set<string> {
  const wellFormed = Buffer.from(secret).toString();
  const json = escapeJson(wellFormed);
  const url = encodeURIComponent(wellFormed);
  return new Set([
    wellFormed,
    json,
    escapeJson(json),
    json.replace(/[^\0-\x7f]/g, escapeUnicode),
    json.replaceAll('/', '\\/'),
    json.replace(/[<>&]/g, escapeUnicode),
    url,
    url.replaceAll('%20', '+'),
  ]);
}

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function escapeUnicode(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function unescapeUrl(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
