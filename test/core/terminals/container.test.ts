import { expect, test } from "bun:test";
import { findShownContainer } from "../../../src/core/terminals/container.ts";

test.each([
  ["docker exec -it web bash", "web"],
  ["podman --root /x exec --interactive --tty web sh", "web"],
  ["docker container exec -ti -u dev -w /src -e A=b web zsh -l", "web"],
  ["docker exec --user=dev -t web sh", "web"],
  ["docker exec -i web sh -c beckon", null],
  ["docker exec web ls -t", null],
  ["docker run -it web", null],
  ["docker exec -it", null],
])("%s shows a terminal of the container %p", (command, container) => {
  expect(findShownContainer(command.split(" "))).toBe(container);
});
