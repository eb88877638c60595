/** Puts a text into the clipboard, and says so. */
import { useState } from 'preact/hooks';
import { useFrame } from '../frame/context.ts';
import { t } from '../words/words.ts';

const SAID_MS = 1_500;

export function Copy({ text, label }: { readonly text: string; readonly label: string }) {
  const [isDone, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    await toClipboard(text);
    setDone(true);
    setTimeout(() => setDone(false), SAID_MS);
  };
  return (
    <button type="button" class="quiet copy" onClick={() => void copy()}>
      {isDone ? t('copy.done') : label}
    </button>
  );
}

/** What somebody can type or paste next. */
export function Command({ text }: { readonly text: string }) {
  return (
    <div class="code command">
      <Copy text={text} label={t('copy')} />
      <pre tabIndex={0} role="region" aria-label={t('command')}>
        {text}
      </pre>
    </div>
  );
}

/** A command of `soda` about the namespace that is looked at. */
export function SodaCommand({ text }: { readonly text: string }) {
  return <Command text={inNamespace(text, useFrame().place.namespace)} />;
}

/** With the namespace that it is about: before a text that it is given by its first line. */
function inNamespace(command: string, namespace: string): string {
  if (namespace === 'default') return command;
  return command.replace(/(?= <<'EOF'\n)|$/, ` --namespace ${namespace}`);
}

/** Where a page came without TLS, browsers have the old way only. */
async function toClipboard(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  const field = document.createElement('textarea');
  field.value = text;
  (document.querySelector('dialog[open]') ?? document.body).append(field);
  field.select();
  // oxlint-disable-next-line typescript/no-deprecated -- deprecated for `navigator.clipboard`, which browsers have under TLS only: without TLS nothing else copies
  document.execCommand('copy');
  field.remove();
}
