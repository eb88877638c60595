/** How forms are sent: once, however often somebody presses, with what was refused beside its field. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { curlOf, type Request } from '../../api/call.ts';
import { NO_REFUSAL, refusalOf } from '../../frame/asking.tsx';
import { useFrame } from '../../frame/context.ts';
import { t } from '../../words/words.ts';
import { Copy } from '../copy.tsx';
import { Refused } from '../page.tsx';
import type { Field } from './fields.ts';

/** Of a form with these fields: the keyboard goes to the first that is wrong. */
export function useSending(fields: readonly Field[]) {
  const [refusal, setRefusal] = useState(NO_REFUSAL);
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(
    () => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(),
    [refusal.wrong],
  );
  /** Until it is over, nothing else is sent. */
  const send = async (what: () => Promise<void> | void): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    setRefusal(NO_REFUSAL);
    try {
      await what();
    } catch (error) {
      setRefusal(refusalOf(error, fields));
    }
    setBusy(false);
  };
  return { ...refusal, form, isBusy, send };
}

interface SheetFormProps {
  readonly by: ReturnType<typeof useSending>;
  readonly submit: () => Promise<void>;
  /** Of the button. */
  readonly verb: string;
  /** What would be sent. */
  readonly of: () => Request;
  readonly isWide?: boolean;
  /** Its fields. */
  readonly children: ComponentChildren;
}

/** A form that fills a page. */
export function SheetForm({
  by,
  submit,
  verb,
  of: request,
  isWide = false,
  children,
}: SheetFormProps) {
  const { me } = useFrame();
  const { form, isBusy, problem, send } = by;
  return (
    <form
      ref={form}
      class={isWide ? 'sheet wide-sheet' : 'sheet'}
      onSubmit={(event) => {
        event.preventDefault();
        void send(submit);
      }}
    >
      {children}
      <Refused why={problem} />
      <footer>
        {/* Not disabled while it is busy: the keyboard would be nowhere. */}
        <button type="submit" class="main" aria-busy={isBusy}>
          {isBusy ? t('field.sending') : verb}
        </button>
        <Curl of={request} needsToken={me.name !== null} />
      </footer>
    </form>
  );
}

interface CurlProps {
  readonly of: () => Request;
  readonly needsToken: boolean;
}

function Curl({ of: request, needsToken }: CurlProps) {
  try {
    return <Copy text={curlOf(request(), needsToken)} label={t('copy.curl')} />;
  } catch {
    // What was typed so far is no request.
    return null;
  }
}
