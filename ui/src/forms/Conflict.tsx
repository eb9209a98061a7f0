import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { text } from '../messages/messages.js';
import { escapeText } from '../values/escape-text.js';
import { shorten } from '../values/format.js';
import type { Draft, FieldDraft } from './draft.js';
import type { FieldSpec } from './field-spec.js';

interface ConflictProps {
  readonly specs: readonly FieldSpec[];
  /** The object as it was read when the form was opened. */
  readonly base: Draft;
  /** The object as it stands now. */
  readonly theirs: Draft;
  /** What was typed. */
  readonly mine: Draft;
  readonly isBusy: boolean;
  /** @param resolved the fields to be written. */
  resolve(resolved: Draft): void;
  close(): void;
}

type Side = 'theirs' | 'mine';

/** The difference between what was read, what stands there now, and what was typed, to be resolved by field. */
export function Conflict({ specs, base, theirs, mine, isBusy, resolve, close }: ConflictProps): JSX.Element {
  const [sides, setSides] = useState<Readonly<Record<string, Side>>>({});
  const shown = specs.filter(
    ({ name, readOnly }) => !readOnly && (mine[name] !== undefined || !isSame(base[name], theirs[name])),
  );
  const sideOf = (name: string): Side => sides[name] ?? 'mine';
  return (
    <section class="form conflict" aria-label={text('conflict')}>
      <h2>{text('conflict')}</h2>
      <div class="problem" role="alert">
        <p>{text('changedByOthers')}</p>
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label={text('conflict')}>
        <table>
          <thead>
            <tr>
              <th scope="col">{text('field')}</th>
              <th scope="col">{text('asRead')}</th>
              <th scope="col">{text('asItStands')}</th>
              <th scope="col">{text('asTyped')}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ name, label }) => {
              const isMine = mine[name] !== undefined;
              const choice = (side: Side, value: FieldDraft | undefined): JSX.Element => (
                <td class={sideOf(name) === side ? 'picked' : ''}>
                  <label class="check">
                    <input
                      type="radio"
                      checked={sideOf(name) === side}
                      onChange={() => {
                        setSides({ ...sides, [name]: side });
                      }}
                    />
                    <Shown value={value} />
                  </label>
                </td>
              );
              return (
                <tr key={name}>
                  <th scope="row">{label}</th>
                  <td>
                    <Shown value={base[name]} />
                  </td>
                  {isMine ? (
                    choice('theirs', theirs[name])
                  ) : (
                    <td class="picked">
                      <Shown value={theirs[name]} />
                    </td>
                  )}
                  {isMine ? choice('mine', mine[name]) : <td />}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <div class="row">
        <button
          type="button"
          class="main"
          disabled={isBusy}
          onClick={() => {
            resolve(Object.fromEntries(Object.entries(mine).filter(([name]) => sideOf(name) === 'mine')));
          }}
        >
          {text('saveChoice')}
        </button>
        <button type="button" onClick={close}>
          {text('cancel')}
        </button>
      </div>
    </section>
  );
}

function isSame(one: FieldDraft | undefined, other: FieldDraft | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function Shown({ value }: { readonly value: FieldDraft | undefined }): JSX.Element {
  if (value === null || value === undefined) return <span class="null">{text('null')}</span>;
  if (value === '') return <span class="null">{text('empty')}</span>;
  if (typeof value === 'boolean') return <span>{text(value ? 'yes' : 'no')}</span>;
  const shown = typeof value === 'string' ? value : JSON.stringify(value);
  return <bdi title={escapeText(shown)}>{escapeText(shorten(shown, 200))}</bdi>;
}
