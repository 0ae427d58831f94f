/** Hosts and variables of providers, for agents that use several. */
export const openaiHosts = ['api.openai.com', 'chatgpt.com', 'auth.openai.com'];
/** Full names: the same domain also has storage that anybody can write to. */
export const googleHosts = [
  ...['generativelanguage.googleapis.com', 'aiplatform.googleapis.com', 'cloudcode-pa.googleapis.com'],
  ...['oauth2.googleapis.com', 'accounts.google.com'],
];

export const anthropicAccount = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL'];
export const openaiAccount = ['OPENAI_API_KEY', 'OPENAI_BASE_URL'];
export const googleAccount = ['GEMINI_API_KEY', 'GOOGLE_API_KEY'];
/** For agents that use whichever key there is. */
export const anyAccount = [...anthropicAccount, ...openaiAccount, ...googleAccount];
