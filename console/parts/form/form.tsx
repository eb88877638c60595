/** Shows the fields of a form: their units, what holds where one is left empty, and what is wrong with it. */
import { useId } from 'preact/hooks';
import { type Field, textOf, type Typed, wordsIn, type Wrong, YES } from './fields.ts';
import { t } from '../../words/words.ts';
import { lengthOf } from '../time.tsx';

interface Props {
  readonly of: readonly Field[];
  readonly typed: Typed;
  readonly set: (name: string, value: string) => void;
  readonly wrong?: Wrong;
}

export function Fields({ of: fields, typed, set, wrong = {} }: Props) {
  const sections = [...new Set(fields.map(({ section = '' }) => section))];
  return (
    <>
      {sections.map((title) => {
        const inIt = fields.filter(({ section = '' }) => section === title);
        const inputs = inIt.map((field) => (
          <Input
            key={field.name}
            field={field}
            value={textOf(field, typed)}
            set={(value) => set(field.name, value)}
            wrong={wrong[field.name]}
          />
        ));
        if (title === '') {
          return (
            <div key={title} class="fields">
              {inputs}
            </div>
          );
        }
        return (
          <fieldset key={title} class="fields">
            <legend>{title}</legend>
            {inputs}
          </fieldset>
        );
      })}
    </>
  );
}

interface InputProps {
  readonly field: Field;
  readonly value: string;
  readonly set: (value: string) => void;
  readonly wrong: string | undefined;
}

/** These need little width: two stand beside each other. */
const SHORT: ReadonlySet<Field['kind']> = new Set(['number', 'limit', 'digits', 'select']);

function Input({ field, value, set, wrong }: InputProps) {
  const { label, kind, hint, unit, isRequired = false } = field;
  const id = useId();
  const more = `${id}-more`;
  const isGroup = kind === 'choices';
  const told = [
    unit === undefined ? '' : inUnit(value || (field.preset ?? ''), unit),
    hint ?? '',
  ].filter((text) => text !== '');
  return (
    <div class={`field ${SHORT.has(kind) ? 'short' : ''} ${kind === 'check' ? 'checked' : ''}`}>
      {isGroup ? (
        <span id={id}>{label}</span>
      ) : (
        <label for={id}>
          {label}
          {isRequired && <b aria-hidden="true"> *</b>}
        </label>
      )}
      <Control field={field} value={value} set={set} id={id} more={more} isWrong={!!wrong} />
      <small id={more}>
        {wrong !== undefined && <span class="error">{wrong} </span>}
        {told.join(' · ')}
      </small>
    </div>
  );
}

interface ControlProps extends Omit<InputProps, 'wrong'> {
  readonly id: string;
  /** Of what stands below. */
  readonly more: string;
  readonly isWrong: boolean;
}

function Control({ field, value, set, id, more, isWrong }: ControlProps) {
  const { name, kind = 'text', options = [], inWords = String, isRequired = false } = field;
  const described = { 'aria-describedby': more, ...(isWrong && { 'aria-invalid': true }) };
  const props = {
    ...{ id, name, value, required: isRequired, ...described },
    onInput: (event: { currentTarget: { value: string } }) => set(event.currentTarget.value),
  };
  if (kind === 'json') return <textarea {...props} rows={8} spellcheck={false} />;
  if (kind === 'check') {
    return (
      <input
        {...{ id, name, ...described }}
        type="checkbox"
        checked={value === YES}
        onChange={({ currentTarget: { checked } }) => set(checked ? YES : '')}
      />
    );
  }
  if (kind === 'select') {
    return (
      <select {...props}>
        {options.map((option) => (
          <option key={option} value={option}>
            {inWords(option)}
          </option>
        ))}
      </select>
    );
  }
  if (kind === 'choices') {
    const chosen = wordsIn(value);
    return (
      <div class="choose" role="group" aria-labelledby={id} aria-describedby={more}>
        {options.map((option) => (
          <label key={option}>
            <input
              type="checkbox"
              checked={chosen.includes(option)}
              onChange={({ currentTarget: { checked } }) => {
                const others = chosen.filter((one) => one !== option);
                set((checked ? [...others, option] : others).join(' '));
              }}
            />
            {inWords(option)}
          </label>
        ))}
      </div>
    );
  }
  return <Typing {...{ field, props, id }} />;
}

interface TypingProps {
  readonly field: Field;
  readonly props: object;
  readonly id: string;
}

function Typing({ field: { kind = 'text', preset = '', suggestions }, props, id }: TypingProps) {
  const type = kind === 'secret' ? 'password' : isOfBrowser(kind) ? kind : 'text';
  const list = suggestions && `${id}-list`;
  return (
    <>
      <input
        {...props}
        {...typeOf(type)}
        {...(list !== undefined && { list })}
        {...(kind === 'digits' && { inputMode: 'decimal' })}
        step="any"
        placeholder={preset}
        autocomplete={kind === 'secret' ? 'new-password' : 'off'}
        spellcheck={false}
      />
      {list !== undefined && (
        <datalist id={list}>
          {suggestions?.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </>
  );
}

const isOfBrowser = (kind: string): kind is 'number' | 'datetime-local' =>
  kind === 'number' || kind === 'datetime-local';

/** The types of preact want to know which one it is. */
export function typeOf(kind: 'text' | 'number' | 'datetime-local' | 'password'): {
  readonly type: 'number';
} {
  return { type: kind as 'number' };
}

function inUnit(value: string, unit: string): string {
  const seconds = Number(value);
  if (unit !== 's') return unit;
  const isLong = value !== '' && seconds >= 60;
  return isLong ? `${t('unit.s')} = ${lengthOf(seconds * 1000)}` : t('unit.s');
}
