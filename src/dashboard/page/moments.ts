/** Going through the moments of the story that are on the page. */

/** In their order. */
const listMoments = (): HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>(".beat[data-id]")].filter(
    (element) => element.offsetParent !== null,
  );

export const openBeat = (beat: HTMLElement | undefined): void =>
  beat?.querySelector<HTMLButtonElement>('[data-do="moment"]')?.click();

/** Shows the transcript at the moment before (-1) or after (1) the one that is shown. */
export function moveMoment(step: -1 | 1): void {
  const moments = listMoments().filter((beat) => beat.querySelector('[data-do="moment"]') !== null);
  const index = moments.findIndex((beat) => beat.classList.contains("at"));
  const next = moments[index + step];
  openBeat(next);
  next?.scrollIntoView({ block: "nearest" });
}
