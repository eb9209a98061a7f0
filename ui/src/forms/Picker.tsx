import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { text } from '../messages/messages.js';
import { escapeText } from '../values/escape-text.js';
import { shorten } from '../values/format.js';
import { usePage } from '../views/context.js';
import { referenceUrl } from '../views/reference.js';
import { CreateRelated } from './CreateRelated.js';
import { describedBy } from './FieldInput.js';
import type { InputProps } from './FieldInput.js';
import type { FieldSpec } from './field-spec.js';
import { RelatedRows, SHORTEST_SEARCH } from './related-rows.js';
import type { Choice } from './related-rows.js';

/** How long nothing is typed before a search, in milliseconds. */
const PAUSE = 300;

interface PickerProps extends InputProps {
  /** Whether an object that is missing can be created in place. Default: true. */
  readonly creates?: boolean;
}

/** Chooses a related object: by its label, by a search on the server, or by a typed key. */
export function Picker(props: PickerProps): JSX.Element {
  const { spec, id, change } = props;
  const page = usePage();
  const list =
    spec.relation?.url === undefined || spec.relation.url === null
      ? undefined
      : page.links.toLocal(spec.relation.url);
  const { client, loader, links } = page;
  const related = useMemo(
    () => (list === undefined ? undefined : new RelatedRows(list, { client, loader, links })),
    [list, client, loader, links],
  );
  // A model that the caller may not list: its keys are typed.
  if (!related)
    return (
      <input
        id={id}
        type="text"
        value={typeof props.value === 'string' ? props.value : ''}
        placeholder={text('key')}
        onInput={(event) => {
          change(event.currentTarget.value);
        }}
        {...describedBy(props)}
      />
    );
  return <SearchPicker {...props} related={related} />;
}

interface SearchProps extends PickerProps {
  readonly related: RelatedRows;
}

/** What the server has found for a typed text. */
interface Found {
  readonly choices: readonly Choice[];
  readonly isSearching: boolean;
  readonly hasFailed: boolean;
}

const NOTHING: Found = { choices: [], isSearching: false, hasFailed: false };

function SearchPicker(props: SearchProps): JSX.Element {
  const { spec, id, value, change, related } = props;
  const key = typeof value === 'string' ? value : '';
  // The label of a choice is known until another one is made elsewhere.
  const [chosen, setChosen] = useState<Choice>();
  const label = chosen?.key === key ? chosen.label : props.label;
  const isUnknown = key !== '' && label === undefined;
  useEffect(() => {
    if (!isUnknown) return undefined;
    const controller = new AbortController();
    // Without its label, the key is shown.
    related.findByKey(key, controller.signal).then(setChosen, () => undefined);
    return () => {
      controller.abort();
    };
  }, [related, key, isUnknown]);
  const [typed, setTyped] = useState<string>();
  const { found, cancel } = useChoices(related, typed);
  const close = (): void => {
    setTyped(undefined);
  };
  const choose = (choice: Choice | undefined): void => {
    setChosen(choice);
    change(choice ? choice.key : null);
    close();
  };
  const isOpen = typed !== undefined;
  const { active, onKeyDown } = useOptionKeys({
    choices: found.choices,
    isOpen,
    open: setTyped,
    close,
    choose,
  });
  return (
    <div class="picker">
      <div class="combo">
        <input
          id={id}
          type="text"
          role="combobox"
          autocomplete="off"
          aria-expanded={isOpen}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={active >= 0 ? `${id}-${active}` : undefined}
          value={typed ?? escapeText(label ?? key)}
          placeholder={text('choose')}
          onFocus={() => {
            setTyped((before) => before ?? '');
          }}
          onBlur={close}
          onInput={(event) => {
            setTyped(event.currentTarget.value);
          }}
          onKeyDown={onKeyDown}
          {...describedBy(props)}
        />
        {/* Over the form: what is below must not move when it closes. */}
        <div class="popup" hidden={!isOpen}>
          <ul id={`${id}-list`} role="listbox" aria-label={spec.label}>
            {found.choices.map((choice, at) => (
              <li
                key={choice.key}
                id={`${id}-${at}`}
                role="option"
                aria-selected={at === active}
                // Before the input loses the focus.
                onMouseDown={(event) => {
                  event.preventDefault();
                  choose(choice);
                }}
              >
                <bdi>{escapeText(shorten(choice.label))}</bdi>{' '}
                <span class="hint">{escapeText(choice.key)}</span>
              </li>
            ))}
          </ul>
          {typed !== undefined && <SearchState found={found} typed={typed} cancel={cancel} />}
        </div>
      </div>
      {key !== '' && (
        <ChosenObject
          spec={spec}
          choice={{ key, label: label ?? key }}
          clear={() => {
            choose(undefined);
          }}
        />
      )}
      {props.creates !== false && <CreateRelated related={related} label={spec.label} done={choose} />}
    </div>
  );
}

/** The way to the chosen object's page, and to choose none. */
function ChosenObject({
  spec,
  choice,
  clear,
}: {
  readonly spec: FieldSpec;
  readonly choice: Choice;
  clear(): void;
}): JSX.Element {
  const { links } = usePage();
  const href = referenceUrl(choice.key, spec.relation, links);
  return (
    <>
      {href !== undefined && (
        <a
          href={href}
          target="_blank"
          rel="noreferrer"
          aria-label={text('openObject', { name: escapeText(choice.label) })}
        >
          {text('open')} ↗
        </a>
      )}
      {spec.nullable && (
        <button type="button" class="small" onClick={clear}>
          {text('setNull')}
        </button>
      )}
    </>
  );
}

interface OptionKeys {
  readonly choices: readonly Choice[];
  readonly isOpen: boolean;
  open(typed: string): void;
  close(): void;
  choose(choice: Choice): void;
}

/** Moves through the choices with the arrow keys, chooses with Enter, and closes with Escape. */
function useOptionKeys({ choices, isOpen, open, close, choose }: OptionKeys): {
  readonly active: number;
  onKeyDown(event: KeyboardEvent): void;
} {
  const [active, setActive] = useState(-1);
  useEffect(() => {
    setActive(-1);
  }, [choices, isOpen]);
  const move = (step: number): void => {
    if (!isOpen) open('');
    const { length } = choices;
    const next = active < 0 && step < 0 ? length - 1 : (active + step + length) % length;
    setActive(length === 0 ? -1 : next);
  };
  const take = (): void => {
    const choice = choices[active] ?? (choices.length === 1 ? choices[0] : undefined);
    if (choice) choose(choice);
  };
  const handlers: Readonly<Record<string, (() => void) | undefined>> = {
    ArrowDown: () => {
      move(1);
    },
    ArrowUp: () => {
      move(-1);
    },
    Enter: isOpen ? take : undefined,
    Escape: isOpen ? close : undefined,
  };
  return {
    active,
    onKeyDown: (event) => {
      const handle = handlers[event.key];
      if (!handle) return;
      event.preventDefault();
      handle();
    },
  };
}

function SearchState({
  found,
  typed,
  cancel,
}: {
  readonly found: Found;
  readonly typed: string;
  cancel(): void;
}): JSX.Element {
  const isShort = typed.trim() !== '' && typed.trim().length < SHORTEST_SEARCH;
  return (
    <div class="hint" role="status">
      {found.isSearching && (
        <>
          {text('searching')}{' '}
          <button
            type="button"
            class="small"
            onMouseDown={(event) => {
              event.preventDefault();
              cancel();
            }}
          >
            {text('cancel')}
          </button>
        </>
      )}
      {!found.isSearching && found.hasFailed && text('networkError')}
      {!found.isSearching &&
        !found.hasFailed &&
        found.choices.length === 0 &&
        text(isShort ? 'typeMore' : 'noneFound')}
    </div>
  );
}

/** Searches after a pause. One request is under way at a time: a later one aborts it. */
function useChoices(
  related: RelatedRows,
  typed: string | undefined,
): { readonly found: Found; cancel(): void } {
  const [found, setFound] = useState<Found>(NOTHING);
  const aborting = useRef<AbortController>();
  useEffect(() => {
    if (typed === undefined) {
      setFound(NOTHING);
      return undefined;
    }
    const controller = new AbortController();
    aborting.current = controller;
    setFound((before) => ({ ...before, isSearching: true, hasFailed: false }));
    const search = (): void => {
      related.find(typed, controller.signal).then(
        (choices) => {
          if (!controller.signal.aborted) setFound({ choices, isSearching: false, hasFailed: false });
        },
        () => {
          if (aborting.current === controller)
            setFound({ choices: [], isSearching: false, hasFailed: !controller.signal.aborted });
        },
      );
    };
    const timer = setTimeout(search, typed === '' ? 0 : PAUSE);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [related, typed]);
  return {
    found,
    cancel: () => {
      aborting.current?.abort();
    },
  };
}
