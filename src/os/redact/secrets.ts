import { isSecretName } from 'ralphkit-guard/secret-names';
import { attempt } from '../attempt.ts';
import { secretFormats } from './formats.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** An exact text to redact, and the name that replaces it. */
export type SecretValue = { readonly label: string; readonly value: string };

/** Values of such variables that are also in every second file. */
const commonValues = new Set([
  ...['password', 'password1', 'passw0rd', 'changeme', 'changeit', '12345678', '123456789', '1234567890'],
  ...['postgres', 'postgresql', 'localhost', 'username', 'anonymous', 'keychain', 'production'],
  ...['development', 'required', 'optional', 'disabled', 'undefined', 'redacted'],
]);

const shortestSecret = 8;
const urlWithPassword = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*?:([^/?#\s]+)@/i;

export function placeholder(label: string): string {
  return `[redacted:${label}]`;
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
  if (password !== undefined) return [value, password, attempt(() => decodeURIComponent(password), password)];
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

/** Returns the characters of base64 that depend on the secret alone, wherever it stands in what was encoded. */
export function inBase64(secret: string): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.from('\0'.repeat(offset) + secret);
    const whole = [Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6)];
    return (['base64', 'base64url'] as const).map((way) => bytes.toString(way).slice(...whole));
  });
}

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function escapeUnicode(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
