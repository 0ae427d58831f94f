// What scripts/record-screens.mjs does to bring an agent to the screens that are worth knowing. A case has the answers
// of the model, the steps (`see` a pattern, `type`, `press`, `rest` for some milliseconds), and what is added to the
// agent's row of agents.json: words, variables (null takes one away) and files.
const hello = [{ blocks: [{ text: 'Hello.' }] }];
const said = [{ blocks: [{ text: 'The report is written.\n\n<promise>DONE</promise>' }] }];
const slow = [{ blocks: [{ text: 'Let me look.' }, { delay: 60_000 }, { text: 'Late.' }] }];
const tool = [
  { blocks: [{ text: 'I run the tests.' }, { shell: 'touch made.txt && sleep 60' }] },
  { blocks: [{ text: 'Done.' }] },
];
const limit = [{ limit: { seconds: 7200 } }];
const unauthorized = { status: 401, type: 'authentication_error', message: 'invalid x-api-key' };
const noAuth = [{ error: unauthorized, repeat: 50 }];

/** Types a prompt into the input that `ready` shows. */
const ask = (ready, prompt = 'Write the report.') => [
  ['see', ready],
  ['rest', 700],
  ['type', prompt],
  ['see', prompt.slice(0, 12)],
  ['rest', 500],
  ['press', 'Enter'],
];

/** The cases that all agents have, from a start without questions. */
function common(start, { base = {}, full = {}, permission = {} } = {}) {
  const seen = (text, ms) => [
    ['see', text],
    ['rest', ms],
  ];
  return {
    working: { ...base, answers: slow, steps: [...start, ['rest', 8000]] },
    tool: { ...base, ...full, answers: tool, steps: [...start, ...seen('I run the', 5000)] },
    permission: {
      ...base,
      answers: tool,
      ...permission,
      steps: [...start, ...seen('Allow|Do you want|Would you like|Permission|Run this', 500)],
    },
    finished: { ...base, ...full, answers: said, steps: [...start, ...seen('The report is', 3000)] },
    limit: { ...base, answers: limit, steps: [...start, ['rest', 12_000]] },
    'logged-out': { ...base, answers: noAuth, steps: [...start, ['rest', 12_000]] },
  };
}

function claude() {
  const config = {
    hasCompletedOnboarding: true,
    lastOnboardingVersion: '9.9.9',
    theme: 'dark',
    bypassPermissionsModeAccepted: true,
  };
  const project = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  const base = { files: { '~/.claude.json': { ...config, projects: { '{cwd}': project } } } };
  const options = [
    { label: 'Red', description: 'warm' },
    { label: 'Blue', description: 'cold' },
  ];
  const question = { question: 'Which colour?', header: 'Colour', multiSelect: false, options };
  const asks = [
    { blocks: [{ tool: { name: 'AskUserQuestion', input: { questions: [question] } } }] },
    ...hello,
  ];
  const ready = '❯';
  return {
    trust: { answers: hello, files: { '~/.claude.json': config }, steps: [['see', 'Enter to confirm']] },
    theme: { ...base, answers: hello, steps: [...ask(ready, '/theme'), ['rest', 2000]] },
    login: {
      ...base,
      answers: hello,
      env: { CLAUDE_CODE_OAUTH_TOKEN: null },
      steps: [...ask(ready, '/login'), ['rest', 3000]],
    },
    ready: {
      ...base,
      answers: hello,
      steps: [
        ['see', ready],
        ['rest', 1500],
      ],
    },
    question: { ...base, answers: asks, steps: [...ask(ready), ['see', 'Which colour'], ['rest', 1000]] },
    ...common(ask(ready), {
      base,
      full: { args: ['--dangerously-skip-permissions'], env: { IS_SANDBOX: '1' } },
      permission: { args: ['--permission-mode', 'default'] },
    }),
  };
}

function codex() {
  const config = [
    'model = "gpt-5.5"',
    'model_provider = "local"',
    'check_for_update_on_startup = false',
    '[analytics]',
    'enabled = false',
    '[features]',
    'plugins = false',
    '[model_providers.local]',
    'name = "local"',
    'base_url = "{url}/v1"',
    'wire_api = "responses"',
    'env_key = "MOCK_API_KEY"',
    'request_max_retries = 1',
    'stream_max_retries = 1',
    '[projects."{cwd}"]',
    'trust_level = "trusted"',
  ];
  const base = { files: { '~/.codex/config.toml': config } };
  const bare = { '~/.codex/config.toml': ['check_for_update_on_startup = false'] };
  const ready = 'Ask Codex|context left';
  const notice = [...ask(ready), ['see', 'Use existing'], ['rest', 500]];
  const command = { cmd: 'touch /etc/x', sandbox_permissions: 'require_escalated', justification: 'Needed.' };
  const escalates = {
    blocks: [{ text: 'I run the tests.' }, { tool: { name: 'exec_command', input: command } }],
  };
  return {
    trust: { answers: hello, steps: [['see', 'Trust this|running Codex']] },
    login: { answers: hello, files: bare, steps: [['see', 'Sign in with']] },
    notice: { ...base, answers: hello, steps: notice },
    ready: {
      ...base,
      answers: hello,
      steps: [
        ['see', ready],
        ['rest', 3000],
      ],
    },
    ...common([...notice, ['press', 'Down'], ['press', 'Enter']], {
      base,
      full: { args: ['--dangerously-bypass-approvals-and-sandbox'] },
      permission: { args: ['-a', 'on-request'], answers: [escalates, ...hello] },
    }),
  };
}

function gemini() {
  const base = { files: { '~/.gemini/trustedFolders.json': { '{cwd}': 'TRUST_FOLDER' } } };
  const general = { disableAutoUpdate: true, enableAutoUpdate: false };
  const ready = 'Type your message';
  return {
    trust: { answers: hello, steps: [['see', 'Trust folder']] },
    login: {
      answers: hello,
      env: { GEMINI_API_KEY: null },
      files: { ...base.files, '~/.gemini/settings.json': { general } },
      steps: [
        ['see', 'How would you like to authenticate'],
        ['rest', 1000],
      ],
    },
    ready: {
      ...base,
      answers: hello,
      steps: [
        ['see', ready],
        ['rest', 1500],
      ],
    },
    ...common(ask(ready), { base, full: { args: ['-y'] } }),
  };
}

function qwen() {
  const general = { disableAutoUpdate: true, enableAutoUpdate: false };
  const ready = 'Type your message';
  return {
    login: {
      answers: hello,
      env: { OPENAI_API_KEY: null },
      files: { '~/.qwen/settings.json': { general } },
      steps: [
        ['see', 'Select Authentication'],
        ['rest', 1000],
      ],
    },
    ready: {
      answers: hello,
      steps: [
        ['see', ready],
        ['rest', 1500],
      ],
    },
    ...common(ask(ready), { full: { args: ['-y'] } }),
  };
}

function opencode() {
  const ready = 'Ask anything';
  return {
    ready: {
      answers: hello,
      steps: [
        ['see', ready],
        ['rest', 1500],
      ],
    },
    ...common(ask(ready), { permission: { env: { OPENCODE_PERMISSION: '{"bash":"ask"}' } } }),
  };
}

function amp() {
  const ready = 'for shortcuts';
  const pushes = { blocks: [{ text: 'I run the tests.' }, { shell: 'git push --force origin main' }] };
  return {
    login: { answers: hello, env: { AMP_API_KEY: null }, steps: [['see', 'log in to Amp']] },
    ready: {
      answers: hello,
      steps: [
        ['see', ready],
        ['rest', 1500],
      ],
    },
    ...common(ask(ready), {
      full: { args: ['--dangerously-allow-all'] },
      permission: { answers: [pushes, ...hello] },
    }),
  };
}

function pi() {
  const ready = '\\(auto\\)';
  const { permission: _, ...cases } = common(ask(ready));
  return {
    ready: {
      answers: hello,
      steps: [
        ['see', ready],
        ['rest', 1500],
      ],
    },
    ...cases,
  };
}

function copilot() {
  const trust = [
    ['see', 'Do you trust'],
    ['rest', 500],
  ];
  const pass = [...trust, ['press', 'Enter'], ['rest', 2000]];
  return {
    trust: { answers: hello, steps: trust },
    ready: { answers: hello, steps: [...pass, ['rest', 2000]] },
    ...common([...pass, ...ask('❯')], { full: { args: ['--allow-all-tools'] } }),
  };
}

function cline() {
  const notice = [
    ['see', 'any other key'],
    ['rest', 500],
  ];
  const pass = [...notice, ['press', 'Escape'], ['rest', 1500]];
  const { working, finished } = common([...pass, ...ask('❯')]);
  return {
    notice: { answers: hello, steps: notice },
    ready: { answers: hello, steps: [...pass, ['rest', 1000]] },
    working,
    finished,
  };
}

export const screenCases = {
  claude: claude(),
  codex: codex(),
  gemini: gemini(),
  qwen: qwen(),
  opencode: opencode(),
  amp: amp(),
  pi: pi(),
  copilot: copilot(),
  cline: cline(),
};
