import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/os/redact/redact.ts';
import { repoWith, runArgs } from '../support/agent.ts';
import { startHookServer } from '../support/hook-server.ts';
import { waitUntil } from '../support/processes.ts';
import { type RunOptions, runRalph, startRalph } from '../support/ralph.ts';
import { actAs, everybody } from '../support/who.ts';

/** Random letters and digits, the same in every run, never twice the same. Only here they become tokens. */
const random = createRandom(7);
const from = (alphabet: string, length: number) =>
  Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join('');
const lower = 'abcdefghijklmnopqrstuvwxyz';
const any = (length: number) =>
  `${from(lower, 1)}7${from(`${lower}${lower.toUpperCase()}0123456789`, length - 2)}`;
const hex = (length: number) => from('0123456789abcdef', length);
const upper = (length: number) => from('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', length);
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A kind of secret, the text before it, the secret itself, and the text behind it. */
type Plant = readonly [kind: string, before: string, secret: string, after?: string];

const known = { DEPLOY_TOKEN: `deploy/${any(22)}`, DATABASE_URL: `postgres://app:${any(14)}@db.example/app` };
const databasePassword = known.DATABASE_URL.slice('postgres://app:'.length, -'@db.example/app'.length);
const pem = (name: string) =>
  [`-----BEGIN ${name}-----`, any(64), any(64), any(64), `-----END ${name}-----`].join('\n');

/** Prefixes of tokens, apart from what follows them so that no scanner takes this file for a leak. */
const tokens: Plant[] = [
  ['AWS key id', '', `AK${'IA'}${upper(16)}`],
  ['AWS passing key id', '', `AS${'IA'}${upper(16)}`],
  ['Google API key', '', `AI${'za'}${any(35)}`],
  ['Google OAuth secret', '', `GOC${'SPX-'}${any(28)}`],
  ['Google OAuth token', '', `ya${'29.'}${any(60)}`],
  ['Azure client secret', '', `${any(3)}8${'Q~'}${any(34)}`],
  ['GitHub personal token', '', `gh${'p_'}${any(36)}`],
  ['GitHub OAuth token', '', `gh${'o_'}${any(36)}`],
  ['GitHub fine-grained token', '', `github${'_pat_'}${any(22)}_${any(59)}`],
  ['GitLab token', '', `gl${'pat-'}${any(20)}`],
  ['GitLab runner token', '', `gl${'rt-'}${any(20)}`],
  ['Slack bot token', '', `xo${'xb-'}${from('0123456789', 12)}-${any(24)}`],
  ['Slack app token', '', `xa${'pp-'}1-${upper(11)}-${from('0123456789', 13)}-${hex(64)}`],
  ['Stripe key', '', `sk${'_live_'}${any(24)}`],
  ['Stripe restricted key', '', `rk${'_live_'}${any(24)}`],
  ['Stripe webhook secret', '', `wh${'sec_'}${any(32)}`],
  ['npm token', '', `np${'m_'}${any(36)}`],
  ['PyPI token', '', `py${'pi-AgE'}IcHlwaS5vcmc${any(60)}`],
  ['Docker token', '', `dckr${'_pat_'}${any(27)}`],
  ['Hugging Face token', '', `h${'f_'}${any(34)}`],
  ['OpenAI key', '', `sk${'-proj-'}${any(40)}`],
  ['Anthropic key', '', `sk${'-ant-'}api03-${any(93)}AA`],
  ['SendGrid key', '', `S${'G.'}${any(22)}.${any(43)}`],
  ['Twilio key', '', `S${'K'}${hex(32)}`],
  ['Telegram token', '', `${from('123456789', 10)}:${'AA'}${any(33)}`],
  ['Discord token', '', `${base64('871234567890123456').slice(0, 24)}.${any(6)}.${any(27)}`],
  ['Shopify token', '', `sh${'pat_'}${hex(32)}`],
  ['Databricks token', '', `da${'pi'}${hex(32)}`],
  ['DigitalOcean token', '', `do${'p_v1_'}${hex(64)}`],
  ['Vault token', '', `hv${'s.'}${any(90)}`],
  ['Atlassian token', '', `AT${'ATT3'}${any(60)}=${hex(8)}`],
  ['Linear key', '', `lin${'_api_'}${any(40)}`],
  ['Notion token', '', `nt${'n_'}${any(46)}`],
  ['older Notion token', '', `secret${'_'}${any(43)}`],
  ['Figma token', '', `fi${'gd_'}${any(40)}`],
  ['Sentry token', '', `sn${'trys_'}${any(60)}`],
  ['Grafana token', '', `gl${'sa_'}${any(32)}_${hex(8)}`],
  ['New Relic key', '', `NR${'AK-'}${upper(27)}`],
  ['PlanetScale token', '', `pscale${'_tkn_'}${any(43)}`],
  ['Postman key', '', `PM${'AK-'}${hex(24)}-${hex(34)}`],
  ['Doppler token', '', `dp${'.st.'}dev.${any(43)}`],
  ['Supabase key', '', `sb${'p_'}${hex(40)}`],
  ['Groq key', '', `gs${'k_'}${any(52)}`],
  ['xAI key', '', `xa${'i-'}${any(80)}`],
  ['Tailscale key', '', `ts${'key-'}auth-${any(12)}-${any(24)}`],
  ['age key', '', `AGE${'-SECRET-KEY-1'}${upper(58)}`],
  ['JWT', '', `ey${'J'}${any(30)}.ey${'J'}${any(60)}.${any(43)}`],
  ['Slack webhook', 'https://', `hooks.slack${'.com'}/services/T${upper(8)}/B${upper(8)}/${any(24)}`],
  ['Discord webhook', 'https://', `discord${'.com'}/api/webhooks/${from('123456789', 18)}/${any(68)}`],
  [
    'Teams webhook',
    'https://acme.',
    `webhook.office${'.com'}/webhookb2/${hex(8)}/IncomingWebhook/${hex(32)}`,
  ],
];

/** Secrets that only the text before them tells. */
const assignments: Plant[] = [
  ['Datadog key', 'DD_API_KEY=', hex(32)],
  ['AWS secret key', 'aws_secret_access_key = ', any(40)],
  ['Azure storage key', 'AccountName=acme;AccountKey=', `${any(86)}==`, ';EndpointSuffix=x'],
  ['.npmrc', '//registry.example/:_auth' + 'Token=', any(30)],
  ['.npmrc with a login', '_auth=', base64(`ada:${any(11)}`)],
  ['Docker login', '{"auths":{"r.example":{"auth":"', base64(`ada:${any(11)}`), '"}}}'],
  ['password in text', 'password=', 'hunter2'],
  ['password in YAML', '  db_password: ', any(12)],
  ['password in quotes', "const password = '", `p@ss,w0rd(${any(6)})`, "';"],
  ['password in JSON', '{"password": "', `Tr0ub4dor&${any(5)}`, '"}'],
  ['password of a flag', 'mysql --password ', any(12)],
  ['password of a connection string', 'Server=db;User Id=sa;Pwd=', any(12), ';'],
  ['key in a URL', 'https://api.example/v1?api_key=', any(24), '&page=2'],
  ['token in a URL', 'https://api.example/v1?access_token=', any(24)],
  ['key in JSON', '{"apiKey":"', any(24), '"}'],
  ['client secret', 'client_secret: "', any(32), '"'],
  ['header of a key', 'X-Api-Key: ', any(32)],
  ['signature of an address', 'https://a.example/blob?sv=1&sig=', `${any(42)}%3D`],
  ['Basic auth header', 'Authorization: Basic ', base64(`ada:${any(13)}`)],
  ['Bearer header', 'Authorization: Bearer ', any(32)],
  ['password in an address', 'https://ada:', any(12), '@git.example/x.git'],
  ['token in an address', 'https://', any(32), '@o1.ingest.example/2'],
  ['coloured JSON', '\x1b[34;1m"password"\x1b[0m:\x1b[0;32m"', any(14), '"\x1b[0m'],
];

const keys: Plant[] = ['RSA PRIVATE KEY', 'OPENSSH PRIVATE KEY', 'PRIVATE KEY', 'EC PRIVATE KEY'].map(
  (name) => [name, '', pem(name)],
);

const values: Plant[] = [
  ['a value of the environment', '', known.DEPLOY_TOKEN],
  ['base64 of a value', '', base64(known.DEPLOY_TOKEN)],
  ['base64 of a value among others', '', base64(`deploy-bot:${known.DEPLOY_TOKEN}`).slice(15)],
  ['base64 of a value with a newline', '', base64(`${known.DEPLOY_TOKEN}\n`)],
  ['a value in a URL', '', encodeURIComponent(known.DEPLOY_TOKEN)],
  ['the password of an address in the environment', 'the word is ', databasePassword],
];

const half = (text: string, middle: string) => {
  const at = Math.ceil(text.length / 2) + 2;
  return `${text.slice(0, at)}${middle}${text.slice(at)}`;
};
const breakable = [...tokens.slice(6, 24), ...values.slice(0, 2)];
const broken: Plant[] = [
  ...breakable.map(([kind, , secret]): Plant => [`${kind}, in two lines`, 'x ', half(secret, '\n')]),
  ...breakable.map(([kind, , secret]): Plant => [`${kind}, in two colours`, 'x ', half(secret, '\x1b[31m')]),
];

const whole = [...tokens, ...assignments, ...keys, ...values];
const textOf = ([, before, secret, after = '']: Plant) => `${before}${secret}${after}`;

/** What of a secret must not be seen: each line or colour of a broken one, whole it may not come back at all. */
const tracesOf = ([, , secret]: Plant) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a colour code
  secret.split(/\n|\x1b\[31m/).filter((part) => part.length > 4 && !part.startsWith('-----'));

function leaks(output: string, plants: readonly Plant[]): string[] {
  return plants
    .filter((plant) =>
      tracesOf(plant).some((part) =>
        [part, JSON.stringify(part).slice(1, -1)].some((text) => output.includes(text)),
      ),
    )
    .map(([kind]) => kind);
}

describe('planted secrets', () => {
  it('are many, of many kinds', () => {
    expect(whole.length).toBeGreaterThanOrEqual(80);
    expect(new Set(whole.map(([kind]) => kind)).size).toBe(whole.length);
  });

  it.each([...whole, ...broken].map((plant) => ({ kind: plant[0], plant })))(
    '$kind is taken out of text, JSON and JSON in JSON',
    ({ plant }) => {
      const redactor = createRedactor(known);
      const text = `before ${textOf(plant)} after`;
      const json = JSON.stringify({ content: text });
      const outputs = [text, json, JSON.stringify(json)].map((form) => redactor.text(form));
      expect(leaks(outputs.join('\n'), [plant])).toEqual([]);
      expect(JSON.parse(JSON.parse(outputs[2] ?? '')).content).toMatch(/^before .* after$/s);
    },
  );
});

describe.each(everybody())('planted secrets, for $name', (who) => {
  actAs(who);

  it('are in nothing that a run writes, shows or sends', async () => {
    const hook = await startHookServer();
    const all = [...whole, ...broken];
    const texts = all.map(textOf);
    const lines = texts.join('\n');
    const notice = tokens.slice(0, 25).map(textOf).join(' ');
    const steps = [
      { text: `I found:\n${lines}` },
      { tool: { name: 'Bash', input: { command: `echo '${lines}'` }, output: lines } },
      { write: { path: 'found.txt', content: whole.map(textOf).join('\n') } },
      // In a diff, a mark stands between the halves, and nobody sees that they belong together.
      { write: { path: '.ignored', content: broken.map(textOf).join('\n') } },
      { stderr: `${lines}\n` },
      { text: `\n<promise>BLOCKED: ${notice}</promise>` },
    ];
    const repo = await repoWith([{ steps }], {
      notify: { webhook: hook.url },
      guardrails: [{ command: 'cat found.txt .ignored' }],
    });
    repo.write('.git/info/exclude', '.ignored\n');
    const options = { ...repo, env: { ...repo.env, ...known } };
    const run = await runRalph(runArgs(1, '--verbose'), options);
    expect(run.code).toBe(4);
    expect(hook.received).toHaveLength(1);
    const views = [
      ['show', 'latest'],
      ['show', 'latest', '--json'],
      ['report', '-o', 'report.html'],
      ['report', '--md'],
      ['verdict', 'latest'],
    ];
    const shown = [];
    for (const words of views) shown.push((await runRalph(words, options)).stdout);
    const files = Object.fromEntries(
      filesBelow(repo.path('.ralph')).map((path) => [path, readFileSync(path, 'utf8')]),
    );
    const page = await pageData(options);
    expect(page).toContain('[redacted:github-token]');
    const outputs = {
      ...files,
      report: repo.read('report.html'),
      terminal: run.stdout + run.stderr,
      views: shown.join('\n'),
      page,
      notification: hook.received.map(({ body }) => body).join('\n'),
    };
    expect(Object.keys(outputs).some((path) => path.endsWith('001.ndjson'))).toBe(true);
    expect(outputs.terminal).toContain('[redacted:github-token]');
    expect(outputs.notification).toContain('[redacted:github-token]');
    const seen = Object.entries(outputs).map(([name, output]) => [name, leaks(output, all)] as const);
    expect(seen.filter(([, kinds]) => kinds.length > 0)).toEqual([]);
  });
});

describe('what is no secret stays', () => {
  const redactor = createRedactor(known);
  it.each([
    'sk-learn-0.24.2 and sk-learn-contrib-imbalanced-2024-edition',
    'commit 3f786850e387550fdab836ed7e6dc881de23001b',
    'id 047ca8c6-3d5c-44d4-ac9b-7ea4f8ef2cd7',
    `"integrity": "sha512-${base64(any(64))}"`,
    'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'the password= field is empty, password: and token= too',
    'password: string; token: string | null; apiKey?: string',
    "password: 'Password must be at least 8 characters'",
    'login(user=user, password=password, token=get_token2(x), secret=config.db1.secret)',
    'PASSWORD=$DB_PASSWORD1 TOKEN=$TOKEN_2 API_KEY={{ api_key_3 }} SECRET=<your-secret-1>',
    '"input_tokens":48213,"max_tokens": "16384","tokenizer":"cl100k_base_v2"',
    'PWD=/home/dev/project2 OLDPWD=/home/dev/project1',
    'token_url=https://auth.example/v2/token1 secret: https://vault.example/v1',
    'Basic authentication, Basic requirements, basic examples, Bearer authentication',
    'npm_config_registry npm_lifecycle_event hf_hub_download glpat- xoxb- AKIA',
    '"promise":{"token":"all-12-stories-are-done","match":"claim"}',
    'https://example.com:8080/a?sig=short&key=1 https://ada@example.com/@scope/x',
  ])('%s', (text) => {
    expect(redactor.text(text)).toBe(text);
    const json = JSON.stringify({ text });
    expect(redactor.text(json)).toBe(json);
  });
});

/** What the server of the page says of the latest run. */
async function pageData(options: RunOptions): Promise<string> {
  const server = startRalph(['dashboard', '--no-open'], options);
  const address = await waitUntil(() => /http:\S+\n/.exec(server.output.stdout)?.[0].trim() ?? '');
  const { origin, hash } = new URL(address);
  const headers = { Authorization: `Bearer ${hash.replace('#token=', '')}` };
  const ask = async (path: string) => (await fetch(`${origin}/api/${path}`, { headers })).text();
  const loops = await ask('loops');
  const { id } = JSON.parse(loops).loops[0];
  return loops + (await ask(`loops/${id}`));
}

function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
