import { UNKNOWN } from '../marks.ts';
import { argumentsAt, type Code, endOf } from './code.ts';
import { evaluate } from './values.ts';

/** Calls by what they do; found only in code, never in a text. */
export const patterns = {
  deletes:
    /(?:\b(?:shutil\.rmtree|os\.(?:remove|unlink|rmdir|removedirs)|rmtree|remove_tree|rmSync|rmdirSync|unlinkSync|unlink|rmdir|rimraf|removeSync|emptyDirSync|emptyDir|send2trash|FileUtils\.(?:rm\w*|remove\w*)|File\.(?:delete|unlink)|Dir\.(?:rmdir|delete|unlink)|Deno\.remove(?:Sync)?|os\.remove|os\.RemoveAll|remove_(?:dir_all|dir|file))|(?<![.\w$])remove|\b(?:fs|promises|fsp|fse|fs\/promises["']\))\.(?:rm|remove))\s*[( ]/g,
  writes:
    /\b(?:writeFileSync|appendFileSync|writeFile|appendFile|createWriteStream|truncateSync|chmodSync|chownSync|outputFileSync|file_put_contents|File\.(?:write|chmod|truncate)|IO\.write|os\.(?:chmod|chown|truncate|mkfifo)|writeTextFile(?:Sync)?|Bun\.write|extractall)\s*\(/g,
  moves:
    /\b(?:renameSync|rename|copyFileSync|copyFile|cpSync|symlinkSync|symlink|linkSync|shutil\.(?:move|copy\w*|unpack_archive)|os\.(?:rename|replace|symlink|link)|FileUtils\.(?:mv|cp\w*|ln\w*)|File\.(?:rename|symlink)|copy|move)\s*\(/g,
  reads:
    /\b(?:readFileSync|readFile|createReadStream|file_get_contents|File\.(?:read|open|readlines|foreach)|IO\.read(?:lines)?|readTextFile(?:Sync)?|readfile|fopen|linecache\.getlines?|Bun\.file|put|upload(?:_?[fF]ile)?|upload_from_filename|fput_object|sendFile)\s*\(/g,
  applies: /\b(?:map|forEach|each|array_map|array_walk)\s*\(/g,
  opens: /\b(?:io\.|codecs\.)?open(?:Sync)?\s*\(/g,
  methods:
    /\.(unlink|rmdir|write_text|write_bytes|read_text|read_bytes|touch|symlink_to|rename|replace|chmod|open)\s*\(/g,
  lists:
    /\b(?:os\.(?:walk|listdir|scandir)|(?:glob\.)?i?glob|readdirSync|readdir|Dir\.(?:glob|entries|children|each_child))\s*\(/g,
  evaluates:
    /\b(?:exec|eval|Function|vm\.run\w+|instance_eval|loadstring|load|assert|create_function)\s*[( ]/g,
};
export const runs =
  /\b(?:os\.(?:system|popen|exec\w+|(?:posix_)?spawn\w+)|(?:subprocess|sp|s)\.(?:run|call|check_call|check_output|Popen|getoutput|getstatusoutput)|pty\.spawn|asyncio\.create_subprocess_\w+|(?:child_process["'] *\)\.|cp\.|child_process\.)?(?:execSync|execFileSync|spawnSync|execFile|spawn|exec|execa|execaSync)|system|shell_exec|passthru|popen|proc_open|os\.execute|exec\.Command|io\.popen|IO\.popen|Open3\.\w+|Deno\.Command|Bun\.spawn(?:Sync)?|qx|capture2e?|check_output|check_call|getoutput|getstatusoutput|Popen)\s*[( ]/g;

/** `.exec(…)` of a database or a pattern starts no program. */
export const runsPlainly = new RegExp(runs.source.replace('|exec|', '|(?<!\\.|->)exec|'), 'g');

export function startsShell({ language, source }: Code): boolean {
  return language === 'js' && /child_process|shelljs|zx|execa/.test(source);
}

/** Calls of Perl. `find` names the function first, then the folders. */
export const perl = {
  opens: /\bopen\s*[( ]/g,
  finds: /\b(?:find(?:depth)?|opendir)\s*[( ]/g,
  globs: /\bglob\s+("[^"]*"|'[^']*')/g,
  moves: /\b(?:rename|link|symlink|copy|move)\s*[( ]/g,
  truncates: /\btruncate\s*[( ]/g,
};

/** Code without any of these words does nothing but reckon and print. */
export const noteworthy =
  /rm|remove|unlink|rimraf|delete|destroy|drop|flush|empty|trash|exec|spawn|system|open|run|call|write|append|ch(?:mod|own|dir)|truncat|rename|copy|cp|move|mv|link|read|file|load|eval|function|assert|socket|connect|fetch|fork|kill|setuid|env|http|require|import|query|while|loop|for|touch|glob|dir|walk|command|output|qx|%x|`|argv|\.do\b|send|post|base64|pack|path/i;

/** A call in code: its arguments as they are written, and what each of them amounts to. */
export type Invocation = {
  readonly name: string;
  readonly args: readonly string[];
  readonly value: (index?: number) => string;
};

export function callsIn(code: Code, pattern: RegExp): Invocation[] {
  return [...code.masked.matchAll(pattern)].map((match) => {
    const start = match.index + match[0].length;
    const isOpen = match[0].endsWith('(');
    const isBracket = isOpen || code.masked[start] === '(';
    const end = isBracket ? undefined : endOf(code.masked, start, ';\n');
    const text = { ...code, source: code.source.slice(0, end), masked: code.masked.slice(0, end) };
    const args = argumentsAt(text, isBracket && !isOpen ? start + 1 : start);
    return { name: match[0].slice(0, -1).trim(), args, value: (i = 0) => evaluate(code, args[i] ?? '') };
  });
}

export function firstValues(code: Code, pattern: RegExp): string[] {
  return callsIn(code, pattern).map(({ value }) => value());
}

export function isKnown(path: string): boolean {
  return path !== '' && !path.startsWith(UNKNOWN);
}

export function objectBefore(code: Code, at: number): string {
  let start = at;
  while (start > 0) {
    const char = code.masked[start - 1] ?? '';
    if (char === ')' || char === ']') start = opening(code.masked, start - 1);
    else if (/[\w.$@]/.test(char)) start--;
    else break;
  }
  return evaluate(code, code.source.slice(start, at));
}

function opening(masked: string, close: number): number {
  let depth = 0;
  for (let i = close; i >= 0; i--) {
    if (')]}'.includes(masked[i] ?? '')) depth++;
    else if ('([{'.includes(masked[i] ?? '') && --depth === 0) return i;
  }
  return 0;
}
