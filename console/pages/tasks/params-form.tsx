/** A field of a form for params; what a form cannot show well is a field of JSON. */
import { t } from '../../words/words.ts';
import type { SchemaField } from './schema-fields.ts';

interface Props {
  readonly field: SchemaField;
  readonly value: string;
  readonly set: (value: string) => void;
}

interface LabelProps {
  readonly of: string;
  readonly isRequired: boolean;
}

export function Label({ of: text, isRequired }: LabelProps) {
  return (
    <span>
      {text}
      {isRequired && <b title={t('field.required')}> *</b>}
    </span>
  );
}

export function ParamField({ field, value, set }: Props) {
  const { name, label, hint, kind, example, choices, isRequired } = field;
  const props = {
    name: `params.${name}`,
    value,
    required: isRequired,
    onInput: (event: { currentTarget: { value: string } }) => set(event.currentTarget.value),
  };
  return (
    <label class="field">
      <Label of={label} isRequired={isRequired} />
      {kind === 'choice' ? (
        <select {...props}>
          <option value="" />
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice.replaceAll(/^"|"$/g, '')}
            </option>
          ))}
        </select>
      ) : kind === 'json' ? (
        <textarea {...props} rows={3} spellcheck={false} />
      ) : (
        <input {...props} autocomplete="off" inputMode={kind === 'number' ? 'decimal' : 'text'} />
      )}
      {hint !== '' && <small>{hint}</small>}
      {example !== '' && <small>{t('new-task.json', { example })}</small>}
    </label>
  );
}
