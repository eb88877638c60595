/**
 * Whatever changes something is asked about first, in one dialog: what will be done, to how many, with what reason, and
 * the same as a command for a shell. What came of it is said, and what was refused stays in the dialog.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Away, call, curlOf, Refused as RefusedCall, type Request } from '../api/call.ts';
import { Copy } from '../parts/copy.tsx';
import {
  bodyOf,
  faultSaid,
  faultsOf,
  type Field,
  localOf,
  textOf,
  type Typed,
  type Wrong,
} from '../parts/form/fields.ts';
import { Fields } from '../parts/form/form.tsx';
import { Refused } from '../parts/page.tsx';
import { t } from '../words/words.ts';
import { useFrame } from './context.ts';
import { staying } from './route.ts';

export interface Question {
  readonly title: string;
  /** What follows from it. */
  readonly text?: string;
  /** Of the button. */
  readonly verb: string;
  /** It takes something away. */
  readonly isGrave?: boolean;
  /** What is to be seen of it before. */
  readonly content?: ComponentChildren;
  /** A function: which there are depends on what they say. */
  readonly fields?: readonly Field[] | ((values: Typed) => readonly Field[]);
  /**
   * Several: one after the other, up to the first that is refused.
   * @param body what the fields say, each in its place. @throws {Error} what is wrong with the fields, for people.
   */
  readonly request: (
    values: Typed,
    body: Readonly<Record<string, unknown>>,
  ) => Request | readonly Request[];
  /** What is not there any more needs nothing, but for a PUT: of several the others are asked for all the same. */
  readonly isGoneDone?: boolean;
  /** With the last answer, and what it answers; not to whoever has gone elsewhere meanwhile. */
  readonly done?: (answer: unknown, asked: Request) => void;
  /** What is said once it is done. Default: that it is. Empty: nothing. */
  readonly said?: string;
}

type Listener = (question: Question) => void;
let listener: Listener = () => undefined;
let teller: (text: string) => void = () => undefined;

export function ask(question: Question): void {
  // Another one, also where the same is asked again: the dialog of the first may be about to say that it is closed.
  listener({ ...question });
}

/** For a moment, in a corner. */
export function tell(text: string): void {
  teller(text);
}

export function reasonField(isRequired = false): Field {
  return { name: 'reason', label: t('field.reason'), isRequired };
}
/** @param held until when it is already, as the API has it. */
export function untilField(held: string | null = null): Field {
  return {
    name: 'until',
    label: t('field.until'),
    kind: 'datetime-local',
    hint: t('field.until.hint'),
    initial: localOf(held),
  };
}
/** Of these two: what is left empty is left out. */
export function reasonAndUntil({ reason = '', until = '' }: Readonly<Record<string, string>>) {
  return {
    ...(reason !== '' && { reason }),
    ...(until !== '' && { until: new Date(until).toISOString() }),
  };
}

/** Stands once in the frame. */
export function Asking() {
  const [question, setQuestion] = useState<Question | null>(null);
  const [askedFrom, setAskedFrom] = useState<Element | null>(null);
  useFocusWhereGone(askedFrom, () => setAskedFrom(null));
  useEffect(() => {
    listener = (next) => {
      setAskedFrom(document.activeElement);
      setQuestion(next);
    };
    // What was asked about stays behind where one goes.
    const leave = (): void => setQuestion(null);
    window.addEventListener('hashchange', leave);
    return () => {
      listener = () => undefined;
      window.removeEventListener('hashchange', leave);
    };
  }, []);
  return (
    <>
      {question !== null && (
        <QuestionDialog
          // Of its own state each: one may follow upon another.
          key={question}
          question={question}
          close={() => setQuestion((open) => (open === question ? null : open))}
        />
      )}
      <Told />
    </>
  );
}

/**
 * The browser goes back to what a question began with. Where that is gone, for its work is done, one is at the heading.
 * @param over whoever asked is there, or elsewhere.
 */
function useFocusWhereGone(askedFrom: Element | null, over: () => void): void {
  useEffect(() => {
    if (askedFrom === null) return undefined;
    const look = (): void => {
      if (document.querySelector('dialog') !== null) return;
      const isElsewhere = ![askedFrom, document.body].includes(document.activeElement ?? askedFrom);
      if (askedFrom.isConnected && !isElsewhere) return;
      over();
      if (!isElsewhere)
        document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, [askedFrom]);
}

const TOLD_MS = 5_000;

function Told() {
  const [text, setText] = useState('');
  useEffect(() => {
    teller = setText;
    return () => {
      teller = () => undefined;
    };
  }, []);
  useEffect(() => {
    const timer = setTimeout(() => setText(''), TOLD_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div class="told" role="status" aria-live="polite">
      {text !== '' && <p>{text}</p>}
    </div>
  );
}

interface DialogProps {
  readonly question: Question;
  readonly close: () => void;
}

function QuestionDialog({ question, close }: DialogProps) {
  const { me } = useFrame();
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState<Typed>({});
  const [{ problem, wrong }, setRefusal] = useState<Refusal>(NO_REFUSAL);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(
    () => dialog.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(),
    [wrong],
  );

  const { title, text, content, said, done } = question;
  const fields = fieldsOf(question, typed);
  // The browser takes whoever leaves back to where they were.
  const leave = (): void => dialog.current?.close();
  const requests = (): readonly Request[] =>
    [question.request(saying(fields, typed), bodyOf(fields, typed))].flat();
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setRefusal(NO_REFUSAL);
    const stays = staying();
    try {
      const asked = requests();
      let answer: unknown;
      for (const request of asked) {
        answer = await call<unknown>(request).catch((error: unknown) => {
          const isDone = question.isGoneDone && request.method !== 'PUT' && isGone(error);
          if (!isDone) throw error;
        });
      }
      leave();
      tell(said ?? t('asking.done'));
      const last = asked.at(-1);
      if (last !== undefined && stays()) done?.(answer, last);
    } catch (error) {
      // Whoever has left it meanwhile hears of it all the same.
      if (dialog.current?.open !== true) tell(inWords(error));
      setRefusal(refusalOf(error, fields));
      setBusy(false);
    }
  };
  const curl = curlFor(requests, me.name !== null);
  return (
    <dialog
      ref={dialog}
      class={content === undefined ? '' : 'wide-dialog'}
      onClose={close}
      aria-labelledby="question"
    >
      <form onSubmit={(event) => void submit(event)}>
        <h2 id="question">{title}</h2>
        {text !== undefined && <p>{text}</p>}
        {content}
        <Fields
          of={fields}
          typed={typed}
          set={(name, value) => setTyped((before) => ({ ...before, [name]: value }))}
          wrong={wrong}
        />
        <Refused why={problem} />
        <footer>
          {curl !== null && <Copy text={curl} label={t('copy.curl')} />}
          <Verbs of={question} leave={leave} isBusy={isBusy} areFirst={fields.length === 0} />
        </footer>
      </form>
    </dialog>
  );
}

interface VerbsProps {
  readonly of: Question;
  readonly leave: () => void;
  readonly isBusy: boolean;
  /** There is nothing to type: the keyboard begins here, and not at what takes something away. */
  readonly areFirst: boolean;
}

function Verbs({ of: { verb, isGrave = false }, leave, isBusy, areFirst }: VerbsProps) {
  return (
    <>
      <button type="button" onClick={leave} autofocus={areFirst && isGrave}>
        {t('asking.leave')}
      </button>
      <button
        type="submit"
        class={isGrave ? 'grave' : 'main'}
        disabled={isBusy}
        autofocus={areFirst && !isGrave}
      >
        {verb}
      </button>
    </>
  );
}

function fieldsOf({ fields = [] }: Question, typed: Typed): readonly Field[] {
  if (typeof fields !== 'function') return fields;
  // Which there are may depend on what stands in the first of them before anything is typed.
  return fields(saying(fields(typed), typed));
}

/** What each says, typed or not. */
function saying(fields: readonly Field[], typed: Typed): Typed {
  return {
    ...typed,
    ...Object.fromEntries(fields.map((field) => [field.name, textOf(field, typed)])),
  };
}

interface Refusal {
  readonly problem: string;
  readonly wrong: Wrong;
}
export const NO_REFUSAL: Refusal = { problem: '', wrong: {} };

/** Beside its field, what is about one that is there; the rest in words. */
export function refusalOf(error: unknown, fields: readonly Field[]): Refusal {
  const { wrong, others } = faultsOf(error, fields);
  const isBeside = Object.keys(wrong).length > 0;
  const problem = [
    isBeside ? t('asking.wrong') : sentenceOf(error),
    ...others.map((fault) => `${fault.field}: ${faultSaid(fault)}`),
  ].join('\n');
  return { problem, wrong };
}

/** Null: what was typed so far is no request. */
function curlFor(requests: () => readonly Request[], needsToken: boolean): string | null {
  try {
    return requests()
      .map((request) => curlOf(request, needsToken))
      .join('\n');
  } catch {
    return null;
  }
}

/** Why something was not done, with each field that was wrong. */
export function inWords(error: unknown): string {
  return refusalOf(error, []).problem;
}

function isGone(error: unknown): boolean {
  return error instanceof RefusedCall && error.status === 404;
}

function sentenceOf(error: unknown): string {
  if (error instanceof Away) return t('asking.away');
  return error instanceof Error ? error.message : String(error);
}
