/** Set of bytes: one at the index of each member. */
export type Alphabet = Uint8Array;

/** A kind of secret that begins with a known text. Patterns see Latin-1 text, one character per byte. */
export type SecretFormat = {
  readonly label: string;
  readonly prefixes: readonly string[];
  /** Bytes that may follow the prefix; the format sees no further than the first other one. See `tokenBytes`. */
  readonly alphabet: Alphabet;
  /** A character that has to be among them. */
  readonly needs?: string;
  /** Most bytes that are looked at. */
  readonly limit: number;
  /** Matches the part after the prefix. Replaced is its group `value`, or without one the prefix and the match. */
  readonly rest: RegExp;
  /** Keeps the prefix, which is no secret and says what was there. */
  readonly keepPrefix?: boolean;
  /** No token after two letters: `task-…` is not `sk-…`. One letter may be that of `\n`. */
  readonly notInWord?: boolean;
  /** The prefix is in the name of an assignment, which has to be that of a secret. */
  readonly named?: boolean;
};

export const esc = String.raw`\x1b`;
/** A colour code, also as JSON, C or a shell write it. */
const colour = String.raw`(?:${esc}|\\+(?:u001[bB]|x1[bB]|033|e))\[[\d;]*[A-Za-z]`;
/** Matches newlines and colour codes in the middle of a token. */
export const gapPattern = new RegExp(String.raw`^(?:\\*[\r\n]|\\+[rn]|${colour})+`);

/** A token is also found where newlines or colour codes stand in it. */
export const tokenBytes = alphabet(String.raw`[\w.~+/=\r\n\x1b[;\\-]`);
const line = alphabet(String.raw`[^\0-\x08\x0a-\x1a\x1c-\x1f\x7f]`);
/** Newlines of a private key may be escaped, and a tool may have put `12→` or `12|` before each line. */
const pem = alphabet(String.raw`[\w+/=\s\\:,.|\xe2\x86\x92\x1b[;-]`);
const word = alphabet(String.raw`[\w.~+/=-]`);

/** The first three characters of a number in base64: a Discord token begins with an account's number. */
const numbersInBase64 = Array.from({ length: 90 }, (_, n) =>
  Buffer.from(`${n + 10}0`)
    .toString('base64')
    .slice(0, 3),
);
/** Base64 and not a word: its length is a multiple of four, and it mixes upper and lower case. */
const base64Value = /^(?=.+[A-Z])(?=.*[a-z])(?:[A-Za-z0-9+/]{4}){2,}(?:[\w+/]{2}==|[\w+/]{3}=)?(?![\w+/=])/;
/** The value of an assignment: its least length, and what has to be in it. */
type Value = { readonly least: number; readonly holds: readonly string[] };
const password: Value = { least: 6, holds: [String.raw`[\d!@#%^*+?~$]`] };
const secret: Value = { least: 10, holds: [String.raw`\d`, '[A-Za-z]'] };
const secretWords = 'secret token credential api_key access_key account_key private_key signing_key';
const quote = String.raw`\\*["'\x60]`;
/** The rest of a name and the sign of an assignment. Behind a name in quotes the value is in quotes, or it is no text. */
const named = String.raw`^[\w-]{0,32}(?:${quote}\]?(?:${colour})*[ \t]{0,8}(?:=>?|:)[ \t]{0,8}(?:${colour})*(?=${quote})|(?:${colour})*[ \t]{0,8}(?:=>?|:=?)[ \t]{0,8}(?:${colour})*)`;
/** Matches the beginning of `named`, so that most texts need not wait for more. */
export const namedBegin = new RegExp(String.raw`^[\w-]*(?:$|[:=\\${esc}"'\x60]|[ \t]+(?:$|[:=\\${esc}]))`);
const keyNames = [
  ...['', 'RSA ', 'EC ', 'DSA ', 'OPENSSH ', 'ENCRYPTED '].map((holder) => `${holder}PRIVATE KEY`),
  'PGP PRIVATE KEY BLOCK',
];

/** Of two that begin at the same place the longer match wins. */
export const secretFormats: readonly SecretFormat[] = [
  token('anthropic-key', 'sk-ant-', 20),
  { ...token('api-key', 'sk-', /^(?=[\w-]*\d)(?=[\w-]*[A-Za-z0-9]{16})[\w-]+/), limit: 128, notInWord: true },
  token('stripe-key', 'sk_live_ rk_live_ sk_test_ rk_test_ sk_prod_ rk_prod_ whsec_', 16),
  token('github-token', 'ghp_ gho_ ghs_ ghu_ ghr_ github_pat_', 30),
  token('gitlab-token', 'glpat- gldt- glrt- glptt- glcbt- glft- glsoat- glimt- glagent- gloas- glffct-', 16),
  token('gitlab-token', 'GR1348941', 16),
  token('slack-token', 'xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xox xapp- xwfp-', 10),
  token('aws-key-id', 'AKIA ASIA ABIA ACCA', /^[A-Z0-9]{16,}/),
  token('aws-bedrock-key', 'ABSK bedrock-api-key-', /^[A-Za-z0-9+/]{60,}={0,2}/),
  token('google-key', 'AIza AQ.Ab', 35),
  token('google-oauth-token', 'ya29. GOCSPX- 1//0', 24),
  token('azure-secret', '0Q~ 1Q~ 2Q~ 3Q~ 4Q~ 5Q~ 6Q~ 7Q~ 8Q~ 9Q~', /^[\w.~-]{31,34}(?![\w~])/),
  token('azure-key', 'JQQJ99', 40),
  token('npm-token', 'npm_', /^[A-Za-z0-9]{36,}/),
  token('pypi-token', 'pypi-AgE', 16),
  token('docker-token', 'dckr_pat_ dckr_oat_', 20),
  token('huggingface-token', 'hf_ api_org_', /^[A-Za-z0-9]{30,}/),
  token('amp-token', 'sgamp_ sgp_', 16),
  token('sendgrid-key', 'SG.', /^[\w-]{16,}\.[\w-]{16,}/),
  token('twilio-key', 'SK0 SK1 SK2 SK3 SK4 SK5 SK6 SK7 SK8 SK9', /^[0-9a-f]{31}(?!\w)/),
  token('twilio-key', 'SKa SKb SKc SKd SKe SKf', /^[0-9a-f]{31}(?!\w)/),
  token('telegram-token', ':AA', /^[\w-]{32,33}(?![\w-])/),
  token('discord-token', numbersInBase64, /^[\w-]{20,25}\.[\w-]{6}\.[\w-]{27,}/),
  token('shopify-token', 'shpat_ shpca_ shppa_ shpss_', /^[0-9a-fA-F]{32,}/),
  token('databricks-token', 'dapi', /^[0-9a-f]{32}(?:-\d)?(?!\w)/),
  token('digitalocean-token', 'dop_v1_ doo_v1_ dor_v1_', 32),
  token('vault-token', 'hvs. hvb. hvr.', 20),
  token('atlassian-token', 'ATATT3 ATCTT3 ATSTT3 ATBB', /^[\w=.+/-]{20,}/),
  token('linear-key', 'lin_api_ lin_oauth_', 20),
  token('notion-token', 'ntn_', 30),
  token('notion-token', 'secret_', /^[A-Za-z0-9]{43}(?!\w)/),
  token('figma-token', 'figd_ figu_ figo_', 20),
  token('sentry-token', 'sntrys_ sntryu_', /^[\w+/=-]{30,}/),
  token('datadog-key', 'ddapi_ ddapp_ ddpat_', 20),
  token('grafana-token', 'glsa_ glc_', 20),
  token('newrelic-key', 'NRAK- NRJS- NRII- NRRA-', 16),
  token('planetscale-token', 'pscale_tkn_ pscale_pw_ pscale_oauth_', 20),
  token('postman-key', 'PMAK-', 20),
  token('pulumi-token', 'pul-', /^[0-9a-f]{40}(?!\w)/),
  token('doppler-token', 'dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.', /^[\w.-]{20,}/),
  token('fly-token', 'fm1r_ fm1a_ fm2_ fo1_', /^[\w+/=-]{30,}/),
  token('heroku-key', 'HRKU-', 30),
  token('supabase-key', 'sbp_ sb_secret_', 20),
  token('vercel-token', 'vcp_ vca_ vci_ vck_ vcr_', 24),
  token('netlify-token', 'nfp_ nfc_ nfo_ nfu_', 30),
  token('cloudflare-token', 'cfat_ cfut_ cfk_', 30),
  token('cloudflare-key', 'v1.0-', /^[0-9a-f]{24}-[0-9a-f]{80,}/),
  token('model-provider-key', 'gsk_ xai- pplx- csk- nvapi- jina_ pcsk_ e2b_ tgp_v1_ crsr_', 30),
  token('model-provider-key', 'r8_ tvly- lsv2_pt_ lsv2_sk_ wandb_v1_', 30),
  token('rubygems-key', 'rubygems_', 40),
  token('crates-token', 'cio', /^[A-Za-z0-9]{32}(?!\w)/),
  token('nuget-key', 'oy2', /^[a-z0-9]{43}(?!\w)/),
  token('tailscale-key', 'tskey-', 16),
  token('ci-token', 'bkua_ bkpi_ CCIPAT_ CCIPRJ_', 20),
  token('contentful-token', 'CFPAT-', 30),
  token('terraform-token', 'atlasv1.', 40),
  token('onepassword-token', 'ops_eyJ', 60),
  token('age-key', 'AGE-SECRET-KEY-1', 40),
  token('jfrog-token', 'AKCp cmVmdGtu', /^[A-Za-z0-9]{50,}/),
  token('mail-key', 'key-', /^[0-9a-f]{32}(?!\w)/),
  token('mail-key', 'xkeysib- xsmtpsib-', 40),
  token('payment-key', 'sq0atp- sq0csp- rzp_live_ FLWSECK- EZAK EZTK shippo_live_', 14),
  token('payment-key', 'access_token$production$', 14),
  token('dropbox-token', 'sl.', /^(?:u\.)?[\w-]{100,}/),
  token('dynatrace-token', 'dt0c01. dt0s01.', 24),
  token('sonar-token', 'sqp_ squ_ sqa_', /^[0-9a-f]{40}(?!\w)/),
  token('posthog-key', 'phx_', 40),
  token('openshift-token', 'sha256~', 40),
  token('mapbox-token', 'sk.eyJ', 30),
  { ...token('jwt', 'eyJ', /^[\w-]{10,512}\.eyJ[\w-]{8,}(?:\.[\w-]*)?/), notInWord: true, needs: '.' },
  token('webhook', 'hooks.slack.com/', /^[\w/-]{20,}/),
  token('webhook', 'discord.com/api/webhooks/ discordapp.com/api/webhooks/', /^[\w/-]{20,}/),
  token('webhook', 'webhook.office.com/webhookb2/ hooks.zapier.com/hooks/catch/', /^[\w/.~+=-]{10,}/),
  {
    ...token('url-signature', 'sig= X-Amz-Signature=', /^[\w+/=-]{30,}/),
    alphabet: line,
    notInWord: true,
    keepPrefix: true,
  },
  { ...token('bearer-token', ['Bearer ', 'bearer '], /^(?=.*\d)[\w.~+/=-]{20,}/), keepPrefix: true },
  {
    ...token('basic-auth', ['Basic ', 'basic ', '_auth=', '_auth = ', ...jsonKeys('auth')], base64Value),
    keepPrefix: true,
  },
  {
    label: 'url-credentials',
    prefixes: ['://'],
    alphabet: alphabet(String.raw`[^\0-\x20\x7f"'<>\\^\x60{|}[\]/?#]`),
    needs: '@',
    limit: 512,
    rest: /^(?:[^:@]*:(?![$*]).+|(?=[^@]*\d)[\w-]{20,})(?=@)/,
    keepPrefix: true,
  },
  { ...assigned(named, 'password', password), prefixes: spellings('passw passphrase pwd'), named: true },
  { ...assigned(named, 'secret', secret), prefixes: spellings(secretWords), named: true },
  { ...assigned('^', 'password', password), prefixes: ['--password ', '--passphrase '], keepPrefix: true },
  {
    ...assigned('^', 'secret', secret),
    prefixes: ['--token ', '--secret ', '--api-key ', '--auth-token '],
    keepPrefix: true,
  },
  {
    label: 'private-key',
    prefixes: keyNames.map((name) => `BEGIN ${name}-----`),
    alphabet: pem,
    // Base64 has to follow soon. A block whose end is missing goes to its last long run of it.
    rest: /^(?=.{0,400}?[A-Za-z0-9+/]{40})(?:.*?-----END [A-Z0-9 ]+-----|.*[A-Za-z0-9+/]{40,}={0,2})/s,
    limit: 16_384,
  },
];

/** Returns the bytes that are replaced beyond the limit, when all up to the limit were. */
export function tailOf({ alphabet }: SecretFormat): Alphabet {
  return alphabet === pem ? pem : word;
}

function alphabet(members: string): Alphabet {
  const pattern = new RegExp(members);
  return Uint8Array.from({ length: 256 }, (_, byte) => Number(pattern.test(String.fromCharCode(byte))));
}

/** A token of at least `rest` characters, or of a form of its own. */
function token(label: string, prefixes: string | readonly string[], rest: number | RegExp): SecretFormat {
  return {
    label,
    prefixes: typeof prefixes === 'string' ? prefixes.split(' ') : prefixes,
    alphabet: tokenBytes,
    rest: typeof rest === 'number' ? new RegExp(String.raw`^[\w-]{${rest},}(?:\.[\w-]+)*`) : rest,
    limit: 1024,
  };
}

/** A value after a name that says what it is, in quotes or up to the next blank or sign. */
function assigned(head: string, label: string, { least, holds }: Value) {
  const value = (others: string) => {
    const one = String.raw`(?:[^\s\x1b"'\x60\\<>${others}]|${colour})`;
    return `${holds.map((part) => `(?=${one}*?${part})`).join('')}${one}{${least},}`;
  };
  // Variables, templates, addresses and paths are no values.
  const noValue = String.raw`(?![$*%{[(]|\w+:\/\/|\.{0,2}\/)`;
  const end = String.raw`(?=[\s\x1b"'\x60\\<>{},;&|)\]]|$)`;
  // The tag of a loop, in its journal.
  const noTag = String.raw`(?!${quote},\\*"match\\*":)`;
  const quoted = String.raw`(?<quote>${quote})${noValue}(?<quoted>${value('')})(?=\k<quote>)${noTag}`;
  const plain = String.raw`${noValue}(?!\w+(?:\.[A-Za-z_]\w*)+${end})(?<plain>${value('{}()[\\],;&|')})${end}`;
  return { label, alphabet: line, limit: 256, rest: new RegExp(`${head}(?:${quoted}|${plain})`) };
}

/** Names as `api_key`, `api-key`, `apikey`, `apiKey`, `ApiKey`, `API_KEY` and so on, apart by blanks. */
function spellings(names: string): string[] {
  const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
  const all = names.split(' ').flatMap((name) => {
    const [first = '', second = ''] = name.split('_');
    const joined = (second === '' ? [''] : ['', '_', '-']).flatMap((sign) => [
      `${first}${sign}${second}`,
      `${first}${sign}${capital(second)}`,
      `${capital(first)}${sign}${capital(second)}`,
    ]);
    return [...joined, ...joined.map((one) => one.toUpperCase())];
  });
  return [...new Set(all)];
}

/** The name of a text in JSON, in JSON in JSON, and once more. */
function jsonKeys(name: string): string[] {
  return ['"', '\\"', '\\\\\\"'].flatMap((quote) => [
    `${name}${quote}:${quote}`,
    `${name}${quote}: ${quote}`,
  ]);
}
