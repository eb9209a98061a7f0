import type { ComponentChildren, JSX } from 'preact';
import { exactMember } from '../api/parse-json.js';
import { text } from '../messages/messages.js';
import { escapeText } from '../values/escape-text.js';
import { shorten } from '../values/format.js';
import type { Child, Children } from './children.js';
import { childDrafts, toDraft } from './draft.js';
import type { ChildDrafts, Draft } from './draft.js';
import { FieldRows } from './FieldInput.js';
import type { InputProps } from './FieldInput.js';
import type { FormErrors } from './field-errors.js';
import type { FieldSpec } from './field-spec.js';

/** The objects of a relation in the form of their parent: new ones are added, others changed or deleted. */
export function ChildrenInput(props: InputProps & { readonly nested: Children }): JSX.Element {
  const { spec, id, value, errors, path, nested, change } = props;
  const drafts = childDrafts(value);
  const set = (verb: keyof ChildDrafts, key: string, draft: Draft | true | undefined): void => {
    const { [key]: _before, ...others } = drafts[verb];
    const next = { ...drafts, [verb]: draft === undefined ? others : { ...drafts[verb], [key]: draft } };
    const isEmpty = Object.values(next).every((each) => Object.keys(each as object).length === 0);
    change(isEmpty ? null : next);
  };
  const numbers = Object.keys(drafts.create);
  const mayAdd = nested.create && !(nested.isOne && (nested.rows.length > 0 || numbers.length > 0));
  const fields = { id, path, errors };
  return (
    <div id={id} class="children" role="group" aria-label={spec.label}>
      {nested.rows.map((child) => (
        <ExistingChild
          key={child.key}
          child={child}
          nested={nested}
          drafts={drafts}
          set={set}
          fields={fields}
        />
      ))}
      {numbers.map((number) => (
        <ChildFields
          key={number}
          title={text('createOf', { name: nested.model })}
          specs={nested.create ?? []}
          draft={drafts.create[number] ?? {}}
          fields={{ ...below(fields, 'create', number), errors }}
          change={(draft) => {
            set('create', number, draft);
          }}
        >
          <SmallButton
            label={text('removeChild')}
            press={() => {
              set('create', number, undefined);
            }}
          />
        </ChildFields>
      ))}
      {mayAdd && (
        <SmallButton
          label={text('addChild', { name: nested.model })}
          press={() => {
            set('create', String(Number(numbers.at(-1) ?? -1) + 1), {});
          }}
        />
      )}
      {!mayAdd && nested.rows.length + numbers.length === 0 && <span class="null">{text('empty')}</span>}
    </div>
  );
}

type Place = Pick<InputProps, 'id' | 'path'>;

interface Fields extends Place {
  readonly errors: FormErrors;
}

function below({ id, path }: Place, verb: string, key: string): Place {
  return { id: `${id}-${verb}-${key}`, path: `${path}.${verb}.${key}` };
}

interface ExistingProps {
  readonly child: Child;
  readonly nested: Children;
  readonly drafts: ChildDrafts;
  readonly fields: Fields;
  set(verb: keyof ChildDrafts, key: string, draft: Draft | true | undefined): void;
}

/** One that is there: its label, and what is to become of it. */
function ExistingChild({ child, nested, drafts, fields, set }: ExistingProps): JSX.Element {
  const { key, row } = child;
  const { update, deletes } = nested;
  const draft = drafts.update[key];
  const isDeleted = drafts.delete[key] === true;
  const name = escapeText(shorten(child.label));
  if (draft && update)
    return (
      <ChildFields
        title={name}
        specs={update}
        draft={draft}
        initial={Object.fromEntries(
          update.map((spec) => [spec.name, toDraft(exactMember(row, spec.name), spec)]),
        )}
        fields={{ ...below(fields, 'update', key), errors: fields.errors }}
        change={(next) => {
          set('update', key, next);
        }}
      >
        <SmallButton
          label={text('discard')}
          press={() => {
            set('update', key, undefined);
          }}
        />
      </ChildFields>
    );
  return (
    <div class="row">
      <bdi class={isDeleted ? 'gone' : ''}>{name}</bdi>
      {isDeleted ? (
        <SmallButton
          label={text('keepChild')}
          name={name}
          press={() => {
            set('delete', key, undefined);
          }}
        />
      ) : (
        <>
          {update && (
            <SmallButton
              label={text('change')}
              name={name}
              press={() => {
                set('update', key, {});
              }}
            />
          )}
          {deletes && (
            <SmallButton
              label={text('delete')}
              name={name}
              press={() => {
                set('delete', key, true);
              }}
            />
          )}
        </>
      )}
    </div>
  );
}

interface ChildFieldsProps {
  readonly title: string;
  readonly specs: readonly FieldSpec[];
  readonly draft: Draft;
  readonly initial?: Draft;
  readonly fields: Fields;
  readonly children: ComponentChildren;
  change(draft: Draft): void;
}

function ChildFields({
  title,
  specs,
  draft,
  initial = {},
  fields,
  children,
  change,
}: ChildFieldsProps): JSX.Element {
  return (
    <fieldset class="embedded">
      <legend>{title}</legend>
      {fields.errors.fields[fields.path]?.map((message) => (
        <p key={message} class="refused">
          {escapeText(message)}
        </p>
      ))}
      <FieldRows {...fields} specs={specs} draft={draft} initial={initial} change={change} />
      <div>{children}</div>
    </fieldset>
  );
}

interface SmallButtonProps {
  readonly label: string;
  /** What it belongs to, for screen readers. */
  readonly name?: string;
  press(): void;
}

function SmallButton({ label, name, press }: SmallButtonProps): JSX.Element {
  return (
    <button type="button" class="small" aria-label={name && `${label}: ${name}`} onClick={press}>
      {label}
    </button>
  );
}
