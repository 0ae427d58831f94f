/** What agents share that can use the models of several providers. */
export const openaiHosts = ['api.openai.com', 'chatgpt.com', 'auth.openai.com'];
/** By name: below the same domain are stores where everybody can put something. */
export const googleHosts = [
  ...['generativelanguage.googleapis.com', 'aiplatform.googleapis.com', 'cloudcode-pa.googleapis.com'],
  ...['oauth2.googleapis.com', 'accounts.google.com'],
];

export const anthropicAccount = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL'];
export const openaiAccount = ['OPENAI_API_KEY', 'OPENAI_BASE_URL'];
export const googleAccount = ['GEMINI_API_KEY', 'GOOGLE_API_KEY'];
/** Of agents that take whichever key there is. */
export const anyAccount = [...anthropicAccount, ...openaiAccount, ...googleAccount];
