import { lexer, type Token, type Tokens } from 'marked';
import type { ComponentChildren } from 'preact';
import { highlight } from './highlight.ts';
import { Table } from './parts.tsx';

/** Draws Markdown that an agent wrote. HTML in it stays text, and only links to the web are links. */
export function Markdown({ text }: { readonly text: string }) {
  return <div class="markdown">{drawAll(lexer(text))}</div>;
}

function drawAll(tokens: readonly Token[] | undefined): ComponentChildren {
  return tokens?.map(draw);
}

function draw(token: Token): ComponentChildren {
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading':
      return <p class={`heading h${token.depth}`}>{drawAll(token.tokens)}</p>;
    case 'paragraph':
      return <p>{drawAll(token.tokens)}</p>;
    case 'list':
      return <List {...(token as Tokens.List)} />;
    case 'code':
      return <Fence {...(token as Tokens.Code)} />;
    case 'blockquote':
      return <blockquote>{drawAll(token.tokens)}</blockquote>;
    case 'table':
      return <TableView {...(token as Tokens.Table)} />;
    case 'hr':
      return <hr />;
    case 'br':
      return <br />;
    case 'strong':
      return <strong>{drawAll(token.tokens)}</strong>;
    case 'em':
      return <em>{drawAll(token.tokens)}</em>;
    case 'del':
      return <del>{drawAll(token.tokens)}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'link':
      return <Link {...(token as Tokens.Link)} />;
    case 'text':
    case 'escape':
      return 'tokens' in token && token.tokens ? drawAll(token.tokens) : unescaped(token.text);
    default:
      // HTML and images: the text as it was written.
      return token.raw;
  }
}

/** The lexer keeps entities; as text they would be shown twice escaped. */
function unescaped(text: string): string {
  const names: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (all, name: string) => names[name] ?? all);
}

function Link({ href, tokens }: Tokens.Link) {
  if (!/^https?:\/\//i.test(href)) return <>{drawAll(tokens)}</>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
      {drawAll(tokens)}
    </a>
  );
}

function List({ ordered, start, items }: Tokens.List) {
  const content = items.map(({ task, checked, tokens }) => (
    <li>
      {task && (checked ? '☑ ' : '☐ ')}
      {drawAll(tokens)}
    </li>
  ));
  return ordered ? <ol start={Number(start) || 1}>{content}</ol> : <ul>{content}</ul>;
}

function Fence({ lang = '', text }: Tokens.Code) {
  const lines = highlight(`x.${lang.split(/\s/)[0]}`, text.split('\n'));
  return (
    <pre class="fence" tabIndex={0}>
      {lines.map((tokens, index) => (
        <>
          {index > 0 && '\n'}
          {tokens.map(({ text: piece, kind }) =>
            kind === '' ? piece : <span class={`syntax-${kind}`}>{piece}</span>,
          )}
        </>
      ))}
    </pre>
  );
}

function TableView({ header, rows }: Tokens.Table) {
  const cellsOf = (cells: readonly Tokens.TableCell[]) => cells.map(({ tokens }) => drawAll(tokens));
  return <Table label="Table" looks="" heads={cellsOf(header)} rows={rows.map(cellsOf)} nameAt={-1} />;
}
