import { useSignal } from '@preact/signals';
import { readAnsi } from './ansi.ts';
import { SmallButton } from './parts.tsx';

const foldedLines = 40;

export function drawAnsi(text: string) {
  return readAnsi(text).map((piece) => <span class={piece.classes}>{piece.text}</span>);
}

/** Output of a program with the colours of a terminal; a long one is folded. */
export function AnsiText({ text }: { readonly text: string }) {
  const isWhole = useSignal(false);
  const lines = text.split('\n');
  const rest = lines.length - foldedLines;
  const shown = isWhole.value || rest <= 5 ? text : lines.slice(0, foldedLines).join('\n');
  return (
    <>
      <pre class="terminal output" tabIndex={0}>
        {drawAnsi(shown)}
      </pre>
      {shown !== text && (
        <SmallButton text={`Show ${rest} more lines`} onClick={() => (isWhole.value = true)} />
      )}
    </>
  );
}
