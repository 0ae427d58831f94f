import { isSecretName } from 'ralphkit-guard/secret-names';
import { describe, expect, it } from 'vitest';
import { secretValues } from './secrets.ts';

describe('isSecretName', () => {
  it.each([
    'ANTHROPIC_API_KEY',
    'OPENAI_APIKEY',
    'GITHUB_TOKEN',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'DB_PASSWORD',
    'PGPASSWORD',
    'MYSQL_PWD',
    'SMTP_PASS',
    'ROOT_PASSWD',
    'GPG_PASSPHRASE',
    'AZURE_CREDENTIALS',
    'REDISCLI_AUTH',
    'PRIVATE_KEY_PEM',
    'SESSION_COOKIE',
    'SENTRY_DSN',
    'GITHUB_PAT',
    'API_KEY_2',
    'TOKEN_FOR_DEPLOY',
    'npm_config__authToken',
    'clientSecret',
  ])('takes %s for a secret', (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  it.each([
    'KEYBOARD_LAYOUT',
    'SSH_AUTH_SOCK',
    'TOKENIZERS_PARALLELISM',
    'GIT_AUTHOR_NAME',
    'GIT_AUTHOR_EMAIL',
    'PWD',
    'OLDPWD',
    'XAUTHORITY',
    'GOPRIVATE',
    'SSH_ASKPASS',
    'PASSWORD_STORE_DIR',
    'PRIVATE_KEY_PATH',
    'TOKEN_ENDPOINT',
    'AWS_ACCESS_KEY_ID',
    'AUTH_TYPE',
    'MAX_THINKING_TOKENS',
    'NEXT_PUBLIC_MAP_KEY',
    'PATH',
    'HOME',
  ])('does not take %s for one', (name) => {
    expect(isSecretName(name)).toBe(false);
  });
});

describe('secretValues', () => {
  const found = (env: Record<string, string | undefined>) => secretValues(env).map(({ value }) => value);

  it('leaves out what is short, common, unset, or a path', () => {
    const env = {
      HOME: '/home/user',
      PATH: '/usr/bin:/home/user/.local/bin:/srv/tools',
      A_TOKEN: 'short',
      B_PASSWORD: 'Postgres',
      C_KEY: undefined,
      D_CREDENTIALS: '/home/user/.config/key.json',
      E_KEY: '/srv/tools',
      F_AUTH: '  ',
    };
    expect(found(env)).toEqual([]);
  });

  it('leaves out a value that would be found in what was already replaced', () => {
    expect(found({ FIRST_TOKEN: 'IRST_TOKEN', B_TOKEN: 'private-key', C_TOKEN: 'B_TOKEN-1' })).toEqual([
      'B_TOKEN-1',
    ]);
  });

  it('takes a connection URL with a password, and the password, from a variable of any name', () => {
    const url = 'postgres://ada:p%40ss-word@db.example:5432/app';
    expect(secretValues({ WHATEVER: url })).toEqual(
      expect.arrayContaining([
        { label: 'WHATEVER', value: url },
        { label: 'WHATEVER', value: 'p%40ss-word' },
        { label: 'WHATEVER', value: 'p@ss-word' },
      ]),
    );
    expect(
      found({ DATABASE_URL: 'postgres://db.example:5432/app', SITE: 'https://ada@example.com/x' }),
    ).toEqual([]);
  });

  it('knows how a value is written in JSON, in JSON in JSON, in URLs and in forms', () => {
    expect(new Set(found({ MY_SECRET: 'pä"ss \\w/d&1' }))).toEqual(
      new Set([
        'pä"ss \\w/d&1',
        'pä\\"ss \\\\w/d&1',
        'pä\\\\\\"ss \\\\\\\\w/d&1',
        'p\\u00e4\\"ss \\\\w/d&1',
        'pä\\"ss \\\\w\\/d&1',
        'pä\\"ss \\\\w/d\\u00261',
        'p%C3%A4%22ss%20%5Cw%2Fd%261',
        'p%C3%A4%22ss+%5Cw%2Fd%261',
      ]),
    );
  });

  it('trims what an export left around a value, and cleans the name', () => {
    expect(secretValues({ 'my key': ' 0123456789ab\n' })).toEqual([
      { label: 'my_key', value: '0123456789ab' },
    ]);
  });

  it('names a value that stands in two variables by the first of them', () => {
    expect(secretValues({ Z_TOKEN: 'same-value-1', A_TOKEN: 'same-value-1' })).toEqual([
      { label: 'A_TOKEN', value: 'same-value-1' },
    ]);
  });
});
