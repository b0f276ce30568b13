/** The control of a setting: it shows a value, and reports each change of it. */
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Control, HoursValue, RetentionValue, SettingView } from "../../core/config/setting-view.ts";
import { changeValue, readValue } from "./settings-store.ts";
import { Icon } from "./ui.tsx";

interface ControlProps<Kind extends Control["kind"] = Control["kind"]> {
  readonly setting: SettingView;
  readonly control: Extract<Control, { kind: Kind }>;
  /** Of the heading that names it, and of the message about it. */
  readonly labelId: string;
  readonly errorId: string | undefined;
  readonly isLocked: boolean;
}

export function SettingControl(props: ControlProps) {
  const { control, setting } = props;
  switch (control.kind) {
    case "switch":
      return <Switch {...props} control={control} />;
    case "number":
      return <NumberField {...props} control={control} />;
    case "choice":
      return <Choice {...props} control={control} />;
    case "hours":
      return <Hours {...props} control={control} />;
    case "list":
      return <List {...props} control={control} />;
    case "retention":
      return <Retention {...props} control={control} />;
    case "file":
      return <span class="set-text">{setting.shown}</span>;
    default:
      return control satisfies never;
  }
}

function Switch({ setting, labelId, errorId, isLocked }: ControlProps<"switch">) {
  const isOn = readValue(setting) === true;
  return (
    <label class="switch">
      <input
        type="checkbox"
        role="switch"
        aria-labelledby={labelId}
        aria-describedby={errorId}
        aria-checked={isOn}
        checked={isOn}
        disabled={isLocked}
        onChange={(event) => changeValue(setting, event.currentTarget.checked)}
      />
      <span aria-hidden="true">{isOn ? "On" : "Off"}</span>
    </label>
  );
}

/** A text that is not a number stays as it is typed: the check names it. */
const parseNumber = (text: string): number | string =>
  /^-?\d{1,15}$/.test(text.trim()) ? Number(text) : text;

/** One whole number with its unit. */
function Amount(props: {
  readonly value: unknown;
  readonly unit: string;
  readonly name: { readonly "aria-labelledby": string } | { readonly "aria-label": string };
  readonly errorId: string | undefined;
  readonly isLocked: boolean;
  readonly onInput: (value: number | string) => void;
}) {
  const { value, unit, name, errorId, isLocked, onInput } = props;
  return (
    <span class="num-in">
      <input
        class="field"
        inputMode="numeric"
        autocomplete="off"
        {...name}
        aria-invalid={errorId !== undefined}
        aria-describedby={errorId}
        placeholder="none"
        value={value === null ? "" : String(value)}
        disabled={isLocked}
        onInput={(event) => onInput(parseNumber(event.currentTarget.value))}
      />
      <span>{unit}</span>
    </span>
  );
}

function NumberField({ setting, control, labelId, errorId, isLocked }: ControlProps<"number">) {
  return (
    <Amount
      value={readValue(setting)}
      unit={control.unit}
      name={{ "aria-labelledby": labelId }}
      errorId={errorId}
      isLocked={isLocked}
      onInput={(value) => changeValue(setting, value === "" && control.isOptional ? null : value)}
    />
  );
}

function Choice({ setting, control, labelId, isLocked }: ControlProps<"choice">) {
  const value = readValue(setting);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has borders and a legend of its own.
    <div class="seg" role="group" aria-labelledby={labelId}>
      {Object.entries(control.labels).map(([choice, label]) => (
        <button
          key={choice}
          type="button"
          aria-pressed={value === choice}
          disabled={isLocked}
          onClick={() => changeValue(setting, choice)}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

function Hours({ setting, labelId, errorId, isLocked }: ControlProps<"hours">) {
  const { from = "", to = "" } = (readValue(setting) ?? {}) as Partial<HoursValue>;
  const change = (next: HoursValue) =>
    changeValue(setting, next.from.trim() === "" && next.to.trim() === "" ? null : next);
  const field = (label: string, value: string, example: string, onInput: (text: string) => void) => (
    <input
      class="field"
      aria-label={label}
      aria-invalid={errorId !== undefined}
      aria-describedby={errorId}
      placeholder={example}
      autocomplete="off"
      maxLength={5}
      value={value}
      disabled={isLocked}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has borders and a legend of its own.
    <span class="range" role="group" aria-labelledby={labelId}>
      {field("From", from, "22:00", (text) => change({ from: text, to }))}
      <span>to</span>
      {field("To", to, "08:00", (text) => change({ from, to: text }))}
      {from !== "" && (
        <button
          class="btn sm bare"
          type="button"
          disabled={isLocked}
          onClick={() => changeValue(setting, null)}
        >
          Off
        </button>
      )}
    </span>
  );
}

function List({ setting, control, labelId, isLocked }: ControlProps<"list">) {
  const items = (readValue(setting) ?? []) as readonly string[];
  const isAdding = useSignal(false);
  const box = useRef<HTMLInputElement>(null);
  // Before the next frame: a letter that is typed at once must not be lost.
  useLayoutEffect(() => {
    if (isAdding.value) box.current?.focus();
  }, [isAdding.value]);
  const add = () => {
    const text = box.current?.value.trim() ?? "";
    isAdding.value = false;
    if (text !== "" && !items.includes(text)) changeValue(setting, [...items, text]);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has borders and a legend of its own.
    <div class="tags" role="group" aria-labelledby={labelId}>
      {items.map((item) => (
        <span class="tag" key={item} title={item}>
          <span class="cut">{item}</span>
          <button
            type="button"
            aria-label={`Remove ${item}`}
            disabled={isLocked}
            onClick={() =>
              changeValue(
                setting,
                items.filter((other) => other !== item),
              )
            }
          >
            <Icon of="close" />
          </button>
        </span>
      ))}
      {isAdding.value ? (
        <input
          class="field"
          ref={box}
          aria-label={`Add a ${control.item}`}
          placeholder={`A ${control.item}, then Enter`}
          autocomplete="off"
          onBlur={add}
          onKeyDown={(event) => {
            if (event.key === "Enter") add();
            if (event.key === "Escape" && box.current) box.current.value = "";
          }}
        />
      ) : (
        <button
          class="btn sm"
          type="button"
          aria-label={`Add a ${control.item}`}
          disabled={isLocked}
          onClick={() => {
            isAdding.value = true;
          }}
        >
          <Icon of="plus" />
          Add
        </button>
      )}
    </div>
  );
}

function Retention({ setting, control, labelId, errorId, isLocked }: ControlProps<"retention">) {
  const value = readValue(setting);
  const isOn = typeof value === "object" && value !== null;
  const kept = (isOn ? value : setting.default) as RetentionValue;
  const change = (next: Partial<Record<keyof RetentionValue, number | string>>) =>
    changeValue(setting, { ...kept, ...next });
  const isInvalid = (amount: number, { min, max }: { readonly min: number; readonly max: number }) =>
    errorId !== undefined && !(Number.isInteger(amount) && amount >= min && amount <= max);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has borders and a legend of its own.
    <div class="retention" role="group" aria-labelledby={labelId}>
      <div class="seg">
        <button type="button" aria-pressed={isOn} disabled={isLocked} onClick={() => change({})}>
          Keep
        </button>
        <button
          type="button"
          aria-pressed={!isOn}
          disabled={isLocked}
          onClick={() => changeValue(setting, "off")}
        >
          Off
        </button>
      </div>
      {isOn && (
        <div class="amounts">
          <Amount
            value={kept.days}
            unit="days"
            name={{ "aria-label": "Days" }}
            errorId={isInvalid(kept.days, control.days) ? errorId : undefined}
            isLocked={isLocked}
            onInput={(days) => change({ days })}
          />
          <Amount
            value={kept.maxMb}
            unit="MB"
            name={{ "aria-label": "Megabytes" }}
            errorId={isInvalid(kept.maxMb, control.maxMb) ? errorId : undefined}
            isLocked={isLocked}
            onInput={(maxMb) => change({ maxMb })}
          />
        </div>
      )}
      {!isOn && setting.value !== "off" && <p class="hint">Saving removes the history that there is.</p>}
    </div>
  );
}
