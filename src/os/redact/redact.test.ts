import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, type Redactor } from './redact.ts';

const alnum = 'a1B2c3D4';
const body = (length: number) => alnum.repeat(Math.ceil(length / alnum.length)).slice(0, length);
const base64Lines = Array.from({ length: 4 }, () => body(64));
const keyBlock = (newline: string) =>
  ['-----BEGIN RSA PRIVATE KEY-----', ...base64Lines, '-----END RSA PRIVATE KEY-----'].join(newline);

/** Each kind with a token and what it becomes. Put together here, so that no scanner takes them for real. */
const tokens: [string, string, string][] = [
  ['an Anthropic key', `sk-ant-${body(40)}`, '[redacted:anthropic-key]'],
  ['an OpenAI key', `sk-proj-${body(24)}_${body(24)}`, '[redacted:api-key]'],
  ['a Stripe key', `sk_live_${body(24)}`, '[redacted:stripe-key]'],
  ['a personal GitHub token', `ghp_${body(36)}`, '[redacted:github-token]'],
  ['an OAuth GitHub token', `gho_${body(36)}`, '[redacted:github-token]'],
  ['a GitHub user token', `ghu_${body(36)}`, '[redacted:github-token]'],
  ['a GitHub app token', `ghs_1234_eyJ${body(30)}.${body(20)}.${body(20)}`, '[redacted:github-token]'],
  ['a fine-grained GitHub token', `github_pat_${body(22)}_${body(40)}`, '[redacted:github-token]'],
  ['a GitLab token', `glpat-${body(20)}`, '[redacted:gitlab-token]'],
  ['a Slack token', `xoxb-1234567890-${body(24)}`, '[redacted:slack-token]'],
  ['an AWS key', `AKIA${'A2'.repeat(8)}`, '[redacted:aws-key-id]'],
  ['a passing AWS key', `ASIA${'A2'.repeat(8)}`, '[redacted:aws-key-id]'],
  ['a Google key', `AIza${body(35)}`, '[redacted:google-key]'],
  ['an npm token', `npm_${body(36)}`, '[redacted:npm-token]'],
  ['a Hugging Face token', `hf_${body(34)}`, '[redacted:huggingface-token]'],
  ['an Amp token', `sgamp_user_${body(30)}`, '[redacted:amp-token]'],
  ['a JWT', `eyJ${body(30)}.eyJ${body(40)}.${body(43)}`, '[redacted:jwt]'],
  ['a bearer token', `Bearer ${body(24)}`, 'Bearer [redacted:bearer-token]'],
  ['a password in a URL', 'https://ada:s3cret@a.example/x', 'https://[redacted:url-credentials]@a.example/x'],
  ['a password with @ in a URL', 'redis://:p@ss@cache:6379', 'redis://[redacted:url-credentials]@cache:6379'],
  ['a private key', keyBlock('\n'), '-----[redacted:private-key]'],
  ['a private key with CRLF', keyBlock('\r\n'), '-----[redacted:private-key]'],
];

const env = {
  HOME: '/home/user',
  ADA_TOKEN: 'zq8-Hs72/mKd92',
  ADA_PASSWORD: 'hunter "2" é&\\ok',
  LONG_SECRET: 'zq8-Hs72/mKd92-and-more',
  SK_KEY: 'sk-12345',
};
const redactor = createRedactor(env);

function inPieces(text: string, cuts: readonly number[], using: Redactor = redactor): string {
  const bytes = Buffer.from(text);
  const stream = using.stream();
  const borders = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  const parts = borders.slice(1).map((end, index) => stream.push(bytes.subarray(borders[index], end)));
  return Buffer.concat([...parts, stream.end()]).toString();
}

describe('known formats', () => {
  it.each(tokens)('redacts %s', (_kind, token, expected) => {
    expect(redactor.text(`before "${token}" after`)).toBe(`before "${expected}" after`);
  });

  it.each(tokens)(
    'redacts %s in JSON after a line break, and leaves JSON that can be read',
    (_kind, token, expected) => {
      const line = JSON.stringify({ content: `out:\n${token}\n`, quoted: JSON.stringify(`\n${token}`) });
      const value = JSON.parse(redactor.text(line));
      expect(value).toEqual({ content: `out:\n${expected}\n`, quoted: JSON.stringify(`\n${expected}`) });
    },
  );

  it('redacts a token to its end, however long it is', () => {
    for (const prefix of ['sk-ant-', 'sk-', 'ghp_', 'Bearer ']) {
      expect(redactor.text(`${prefix}${body(100_000)} end`)).toMatch(
        /^(?:Bearer )?\[redacted:[a-z-]+\] end$/,
      );
    }
  });

  it('keeps the full stop after a token', () => {
    expect(redactor.text(`It is sk-ant-${body(40)}.`)).toBe('It is [redacted:anthropic-key].');
  });

  it('redacts a key whose lines a tool has numbered, or that was cut off', () => {
    const numbered = keyBlock('\n').replace(/^/gm, '    12→');
    expect(redactor.text(`${numbered}\n`)).toBe('    12→-----[redacted:private-key]\n');
    const cut = `-----BEGIN PRIVATE KEY-----\n${base64Lines[0]}\n${base64Lines[1]}\n(cut)`;
    expect(redactor.text(cut)).toBe('-----[redacted:private-key]\n(cut)');
  });

  it.each([
    'a task-management-and-long-kebab-name-2024-01',
    `task-${body(32)} and risk-${body(32)}`,
    'sk-short and sk-an-ordinary-dashed-name-of-2024',
    'https://example.com:8080/@scope/pkg?x=a:b@c',
    'ssh://git@github.com:22/o/r and https://ada@example.com',
    'https://ada:$TOKEN@host https://ada:***@host',
    `https://ada:${'$'}{TOKEN}@host`,
    'Bearer authentication-is-described-below',
    'BEGIN TRANSACTION; -----BEGIN CERTIFICATE-----',
    "text.includes('-----BEGIN PRIVATE KEY-----') // a mention is no key",
    'eyJhbGciOiJIUzI1NiJ9 and base64 eyJmb28iOiJiYXIifQ==',
    '047ca8c6-3d5c-44d4-ac9b-7ea4f8ef2cd7 toolu_01A2b3C4 msg_01XYZ',
    'AKIAlower and npm_config_registry and shelf_life',
  ])('leaves %j as it is', (text) => {
    expect(redactor.text(text)).toBe(text);
  });
});

describe('values of the environment', () => {
  it('are replaced by the name of their variable', () => {
    expect(redactor.text('x=zq8-Hs72/mKd92;')).toBe('x=[redacted:ADA_TOKEN];');
  });

  it.each([
    ['JSON', JSON.stringify(env.ADA_PASSWORD).slice(1, -1)],
    ['JSON in JSON', JSON.stringify(JSON.stringify(env.ADA_PASSWORD)).slice(3, -3)],
    ['a URL', encodeURIComponent(env.ADA_PASSWORD)],
  ])('are found in %s', (_where, form) => {
    expect(redactor.text(`<${form}>`)).toBe('<[redacted:ADA_PASSWORD]>');
  });

  it('are replaced whole where one begins like another, or like a longer token', () => {
    expect(redactor.text('zq8-Hs72/mKd92-and-more')).toBe('[redacted:LONG_SECRET]');
    expect(redactor.text(`sk-12345${body(30)}`)).toBe('[redacted:api-key]');
  });
});

describe('the bytes of a stream', () => {
  it('come back in the same buffer where there is nothing to redact', () => {
    const bytes = Buffer.from([0xff, 0x00, ...Buffer.from('nothing to see, s k - é')]);
    expect(redactor.stream().push(bytes)).toBe(bytes);
  });

  it('stay as they are around a secret, also where they are no UTF-8', () => {
    const bytes = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(env.ADA_TOKEN), Buffer.from([0x80])]);
    const expected = Buffer.concat([
      Buffer.from([0xff, 0xfe]),
      Buffer.from('[redacted:ADA_TOKEN]'),
      Buffer.from([0x80]),
    ]);
    const stream = redactor.stream();
    expect(Buffer.concat([stream.push(bytes), stream.end()])).toEqual(expected);
  });
});

describe('stream', () => {
  const secrets = [...Object.values(env).slice(1), ...tokens.map(([, token]) => token)];
  const noise = [
    's',
    'sk',
    'sk-',
    '\\n',
    '\n',
    ' ',
    '"',
    '://',
    'Bearer ',
    'eyJ',
    '-----BEGIN ',
    'é',
    'word',
    '.',
  ];
  const mixed = fc
    .array(fc.oneof(fc.constantFrom(...secrets), fc.constantFrom(...noise), fc.string({ maxLength: 6 })), {
      maxLength: 12,
    })
    .map((parts) => parts.join(''));

  it('redacts the same however it is cut', () => {
    fc.assert(
      fc.property(mixed, fc.array(fc.nat(), { maxLength: 10 }), (text, cuts) => {
        expect(inPieces(text, cuts)).toBe(inPieces(text, []));
      }),
      { numRuns: 5000 },
    );
  });

  it('lets no secret through at any cut', () => {
    for (const secret of secrets) {
      const text = `{"out":"\\n${secret}"}\n`;
      for (let cut = 0; cut <= Buffer.byteLength(text); cut += 1) {
        const out = inPieces(text, [cut]);
        expect(out).not.toContain(secret);
        expect(out).toBe(redactor.text(text));
      }
    }
  });

  it('redacts byte by byte as it does at once', () => {
    const text = secrets.map((secret) => `> ${secret}\n`).join('');
    expect(inPieces(text, [...Buffer.from(text).keys()])).toBe(redactor.text(text));
  });

  it('changes nothing in text without secrets, and redacts nothing twice', () => {
    fc.assert(
      fc.property(mixed, fc.array(fc.nat(), { maxLength: 4 }), (text, cuts) => {
        const once = redactor.text(text);
        expect(inPieces(once, cuts)).toBe(once);
      }),
      { numRuns: 5000 },
    );
  });

  it('gives out a whole line at once, since the line may be the last for hours', () => {
    const stream = redactor.stream();
    const line = Buffer.from('{"type":"result","text":"see https://example.com and Bearer"}\n');
    expect(stream.push(line)).toBe(line);
  });

  it.each(['Working.', 'Go on?', 'Done!', '(yes)'])(
    'gives out %j at once, as the end of a sentence',
    (text) => {
      expect(redactor.stream().push(Buffer.from(text)).toString()).toBe(text);
    },
  );

  it('holds back only what may begin a secret', () => {
    const stream = redactor.stream();
    expect(stream.push(Buffer.from('ends with zq8-Hs')).toString()).toBe('ends with ');
    expect(stream.push(Buffer.from('oops!')).toString()).toBe('zq8-Hsoops!');
    expect(stream.push(Buffer.from(`sk-ant-${body(5000)}`)).toString()).toBe('[redacted:anthropic-key]');
    expect(stream.push(Buffer.from(`${body(5000)} on!`)).toString()).toBe(' on!');
    expect(stream.end().toString()).toBe('');
  });

  it('gives out at the end what it held back', () => {
    const stream = redactor.stream();
    expect(stream.push(Buffer.from('risk')).toString()).toBe('ri');
    expect(stream.end().toString()).toBe('sk');
  });

  it('does not take a word for a token because a chunk border stands in it', () => {
    const text = `task-${body(32)}`;
    for (let cut = 0; cut < text.length; cut += 1) expect(inPieces(text, [cut])).toBe(text);
  });
});
