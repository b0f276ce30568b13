# Installs beckon for the user who runs it, without administrator rights:
#   powershell -c "irm https://github.com/{{repository}}/releases/latest/download/install.ps1 | iex"
# Everything is in a function that the last line calls: a script that was cut off on the way does nothing.

function Install-Beckon {
  param(
    # This version instead of the newest.
    [string]$Version = $env:BECKON_VERSION,
    # Where to put beckon: %LOCALAPPDATA%\Programs\beckon
    [string]$Dir = $env:BECKON_INSTALL_DIR,
    # This program instead of a download.
    [string]$Binary,
    # Leaves your Path as it is.
    [switch]$NoModifyPath,
    # Says what would be done, and does nothing.
    [switch]$DryRun,
    # Further options of beckon --install.
    [Parameter(ValueFromRemainingArguments)][string[]]$InstallOptions = @()
  )
  $ErrorActionPreference = 'Stop'
  # Windows PowerShell draws a progress bar for each chunk, which makes downloads ten times slower.
  $ProgressPreference = 'SilentlyContinue'
  Set-StrictMode -Version 3

  if (-not [Environment]::Is64BitOperatingSystem) { throw 'beckon: there is no beckon for 32-bit Windows.' }
  # Windows on arm64 runs programs for x64.
  $name = 'beckon-windows-x64'
  if ($Version) { $Version = $Version -replace '^v', '' }
  if ($Version -and $Version -notmatch '^[0-9A-Za-z.+-]+$') { throw "beckon: $Version is not a version." }
  if (-not $Dir) { $Dir = Join-Path $env:LOCALAPPDATA 'Programs\beckon' }
  $Dir = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Dir)
  $releases = 'https://github.com/{{repository}}/releases'
  $url = $env:BECKON_DOWNLOAD_URL
  if (-not $url) { $url = if ($Version) { "$releases/download/v$Version" } else { "$releases/latest/download" } }
  $url = $url.TrimEnd('/')
  if ($url -notmatch '^(https://|http://(127\.0\.0\.1|localhost|\[::1\])[:/])') {
    throw "beckon: BECKON_DOWNLOAD_URL must begin with https://, but is $url"
  }
  if ($Binary -and -not (Test-Path -LiteralPath $Binary -PathType Leaf)) { throw "beckon: there is no file $Binary" }
  $source = if ($Binary) { $Binary } else { "$url/$name.zip" }

  if ($DryRun) {
    "Would install $source as $Dir\beckon.exe, and run: $Dir\beckon.exe --install $InstallOptions"
    'Nothing has been changed.'
    return
  }

  $temporary = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
  try {
    New-Item -ItemType Directory -Path $temporary | Out-Null
    if ($Binary) {
      Copy-Item -LiteralPath $Binary -Destination (Join-Path $temporary 'beckon.exe')
      $folder = $temporary
    } else {
      [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
      "Downloading $source"
      $archive = Join-Path $temporary "$name.zip"
      $sums = Join-Path $temporary 'SHA256SUMS'
      foreach ($file in @(@("$url/SHA256SUMS", $sums), @($source, $archive))) {
        try { Invoke-WebRequest -UseBasicParsing -Uri $file[0] -OutFile $file[1] }
        catch { throw "beckon: $($file[0]) could not be downloaded: $($_.Exception.Message) Nothing was installed." }
      }
      $expected = Get-Content -LiteralPath $sums |
        Where-Object { $_ -match "^([0-9a-f]{64}) [ *]$([regex]::Escape("$name.zip"))$" } |
        ForEach-Object { $Matches[1] } | Select-Object -First 1
      if (-not $expected) { throw "beckon: SHA256SUMS has no checksum of $name.zip. Nothing was installed." }
      $actual = (Get-FileHash -LiteralPath $archive -Algorithm SHA256).Hash.ToLowerInvariant()
      if ($actual -ne $expected) {
        throw "beckon: the checksum of $name.zip is wrong: $actual instead of $expected. Nothing was installed."
      }
      Expand-Archive -LiteralPath $archive -DestinationPath $temporary
      $folder = Join-Path $temporary $name
    }
    $said = & (Join-Path $folder 'beckon.exe') --version
    if ($LASTEXITCODE -ne 0 -or $said -notmatch '^beckon (\d\S*)') {
      throw "beckon: the program does not run here: it ended with $LASTEXITCODE. Nothing was installed."
    }
    $found = $Matches[1]
    if ($Version -and $found -ne $Version) { throw "beckon: $source is beckon $found, not $Version. Nothing was installed." }

    New-Item -ItemType Directory -Path $Dir -Force | Out-Null
    foreach ($program in 'beckon.exe', 'beckonw.exe') {
      $from = Join-Path $folder $program
      $to = Join-Path $Dir $program
      if (-not (Test-Path -LiteralPath $from)) { continue }
      # Windows can rename a running program, but not replace it.
      if (Test-Path -LiteralPath $to) { Move-Item -LiteralPath $to -Destination "$to.old-$([DateTime]::UtcNow.Ticks)" }
      Move-Item -LiteralPath $from -Destination $to
    }
    "beckon $found is in $Dir."
  } finally {
    Remove-Item -LiteralPath $temporary -Recurse -Force -ErrorAction SilentlyContinue
  }

  $path = [Environment]::GetEnvironmentVariable('Path', 'User')
  if (-not $NoModifyPath -and ($path -split ';') -notcontains $Dir) {
    [Environment]::SetEnvironmentVariable('Path', (@($path, $Dir) -ne '' -join ';'), 'User')
    "Added $Dir to your Path. Open a new terminal to type just `"beckon`"."
  }
  & (Join-Path $Dir 'beckon.exe') --install --placed @InstallOptions
  if ($LASTEXITCODE -ne 0) {
    throw "beckon is in $Dir, but not connected to your agents. To try again: $Dir\beckon.exe --install"
  }
}

Install-Beckon @args
