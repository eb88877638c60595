/**
 * Whatever changes something is asked about first, in one dialog: what will be done, to how many, with what reason, and
 * the same as a command for a shell. What came of it is said, and what was refused stays in the dialog.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Away, call, curlOf, type Request } from '../api/call.ts';
import { Copy } from '../parts/copy.tsx';
import { t } from '../words/words.ts';
import { useFrame } from './context.ts';

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly kind?: 'text' | 'number' | 'datetime-local' | 'json' | 'select';
  readonly options?: readonly string[];
  readonly initial?: string;
  readonly isRequired?: boolean;
  readonly hint?: string;
}

export interface Question {
  readonly title: string;
  /** What follows from it. */
  readonly text?: string;
  /** Of the button. */
  readonly verb: string;
  /** It takes something away. */
  readonly isGrave?: boolean;
  readonly fields?: readonly Field[];
  /** Several: one after the other, up to the first that is refused. @throws {Error} what is wrong with the fields. */
  readonly request: (values: Readonly<Record<string, string>>) => Request | readonly Request[];
  /** With the last answer. */
  readonly done?: (answer: unknown) => void;
  /** What is said once it is done. Default: that it is. */
  readonly said?: string;
}

type Listener = (question: Question) => void;
let listener: Listener = () => undefined;
let teller: (text: string) => void = () => undefined;

export function ask(question: Question): void {
  listener(question);
}

/** For a moment, in a corner. */
export function tell(text: string): void {
  teller(text);
}

export function reasonField(isRequired = false): Field {
  return { name: 'reason', label: t('field.reason'), isRequired };
}
export function untilField(): Field {
  return {
    name: 'until',
    label: t('field.until'),
    kind: 'datetime-local',
    hint: t('field.until.hint'),
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
  useEffect(() => {
    listener = setQuestion;
    return () => {
      listener = () => undefined;
    };
  }, []);
  return (
    <>
      {question !== null && <QuestionDialog question={question} close={() => setQuestion(null)} />}
      <Told />
    </>
  );
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
  const [values, setValues] = useState<Record<string, string>>(() => initialOf(question));
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setProblem('');
    try {
      let answer: unknown;
      for (const request of [question.request(values)].flat()) answer = await call(request);
      close();
      tell(question.said ?? t('asking.done'));
      question.done?.(answer);
    } catch (error) {
      setProblem(inWords(error));
      setBusy(false);
    }
  };
  const curl = curlFor(question, values, me.name !== null);
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="question">
      <form onSubmit={(event) => void submit(event)}>
        <h2 id="question">{question.title}</h2>
        {question.text !== undefined && <p>{question.text}</p>}
        {question.fields?.map((field) => (
          <Input
            key={field.name}
            field={field}
            value={values[field.name] ?? ''}
            set={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
          />
        ))}
        {problem !== '' && (
          <p class="refusal" role="alert">
            {problem}
          </p>
        )}
        <footer>
          {curl !== null && <Copy text={curl} label={t('copy.curl')} />}
          <button type="button" onClick={close}>
            {t('asking.leave')}
          </button>
          <button
            type="submit"
            class={question.isGrave === true ? 'grave' : 'main'}
            disabled={isBusy}
          >
            {question.verb}
          </button>
        </footer>
      </form>
    </dialog>
  );
}

interface InputProps {
  readonly field: Field;
  readonly value: string;
  readonly set: (value: string) => void;
}

function Input({ field, value, set }: InputProps) {
  const { name, label, kind = 'text', options = [], isRequired = false, hint } = field;
  const props = {
    name,
    value,
    required: isRequired,
    onInput: (event: { currentTarget: { value: string } }) => set(event.currentTarget.value),
  };
  return (
    <label class="field">
      <span>{label}</span>
      {kind === 'json' ? (
        <textarea {...props} rows={8} spellcheck={false} />
      ) : kind === 'select' ? (
        <select {...props}>
          {options.map((option) => (
            <option key={option} value={option}>
              {option}
            </option>
          ))}
        </select>
      ) : (
        <input {...props} {...typeOf(kind)} step="any" autocomplete="off" />
      )}
      {hint !== undefined && <small>{hint}</small>}
    </label>
  );
}

/** The types of preact want to know which one it is. */
export function typeOf(kind: 'text' | 'number' | 'datetime-local'): { readonly type: 'number' } {
  return { type: kind as 'number' };
}

function initialOf({ fields = [] }: Question): Record<string, string> {
  return Object.fromEntries(fields.map(({ name, initial = '' }) => [name, initial]));
}

/** Null: what was typed so far is no request. */
function curlFor(question: Question, values: Record<string, string>, needsToken: boolean) {
  try {
    const requests = [question.request(values)].flat();
    return requests.map((request) => curlOf(request, needsToken)).join('\n');
  } catch {
    return null;
  }
}

/** Why something was not done, with each field that was wrong. */
export function inWords(error: unknown): string {
  if (error instanceof Away) return t('asking.away');
  const { errors = [] } =
    (error as { problem?: { errors?: { field: string; message: string }[] } }).problem ?? {};
  const text = error instanceof Error ? error.message : String(error);
  return [text, ...errors.map(({ field, message }) => `${field}: ${message}`)].join('\n');
}
