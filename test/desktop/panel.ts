/** Settings of xfce4-panel: one panel at the top, with a window list, the tray and a clock. */
const plugins = [
  [
    "1",
    `tasklist"><property name="grouping" type="uint" value="0"/><property name="show-handle" type="bool" value="false"/>`,
  ],
  [
    "2",
    `separator"><property name="expand" type="bool" value="true"/><property name="style" type="uint" value="0"/>`,
  ],
  [
    "3",
    `systray"><property name="square-icons" type="bool" value="true"/><property name="icon-size" type="int" value="22"/>`,
  ],
  [
    "4",
    `clock"><property name="digital-layout" type="uint" value="3"/><property name="digital-time-font" type="string" value="Sans 10"/>`,
  ],
] as const;

export const panelSettings = `<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
  <property name="configver" type="int" value="2"/>
  <property name="panels" type="array">
    <value type="int" value="1"/>
    <property name="panel-1" type="empty">
      <property name="position" type="string" value="p=6;x=0;y=0"/>
      <property name="position-locked" type="bool" value="true"/>
      <property name="length" type="uint" value="100"/>
      <property name="size" type="uint" value="32"/>
      <property name="plugin-ids" type="array">
        ${plugins.map(([id]) => `<value type="int" value="${id}"/>`).join("")}
      </property>
    </property>
  </property>
  <property name="plugins" type="empty">
    ${plugins.map(([id, rest]) => `<property name="plugin-${id}" type="string" value="${rest}</property>`).join("\n    ")}
  </property>
</channel>
`;
