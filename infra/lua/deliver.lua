-- Adds a letter to the end of a list of letters, unless a letter of its id is in the list.
--
-- KEYS  1 the list: for each letter its id, then its entry
-- ARGV  1 id (16 bytes)  2 time in ms, or '' for TIME  3 the entry less its time
--       4 most letters kept  5 seconds a letter is kept, 0 for as long as the list is
-- Returns  the letter's time in ms; where the id is known, of the letter that is there
--
-- An entry is the time in decimal, ':' and ARGV 3. No two times of a list are equal, and they grow
-- even where the clock does not: a reader who knows one time knows which letters are newer.

local list = KEYS[1]
local function time_of(entry)
  return tonumber(string.match(entry, '^%d+'))
end

local place = redis.call('LPOS', list, ARGV[1])
if place then
  return time_of(redis.call('LINDEX', list, place + 1))
end
local now = ARGV[2]
if now == '' then
  local time = redis.call('TIME')
  now = time[1] .. string.format('%03d', math.floor(tonumber(time[2]) / 1000))
end
now = tonumber(now)


local at = now
local last = redis.call('LINDEX', list, -1)
if last and time_of(last) >= at then
  at = time_of(last) + 1
end
redis.call('RPUSH', list, ARGV[1], string.format('%.0f', at) .. ':' .. ARGV[3])
redis.call('LTRIM', list, -2 * tonumber(ARGV[4]), -1)
local kept = tonumber(ARGV[5])
if kept > 0 then
  -- the new letter is never too old, so this ends
  while time_of(redis.call('LINDEX', list, 1)) <= now - kept * 1000 do
    redis.call('LTRIM', list, 2, -1)
  end
  redis.call('EXPIRE', list, kept)
end
return at
